#pragma once

#include "interposer/driver/host_wait.hpp"

namespace elbowroom::interposer::driver {

/// Hooks of streams and events: what the program orders by itself. Facts are told once the driver has accepted the call. `Ours` is
/// the hook whose real function is called.
template <Driver D>
struct StreamHooks {
  using Stream = typename D::Stream;
  using Event = typename D::Event;

  static void tell_created(int result, const Stream* stream, unsigned flags) {
    Interposer<D>* state = interposer<D>();
    if (state == nullptr || result != D::kSuccess || stream == nullptr || *stream == nullptr) { return; }
    const typename D::Place place = state->driver.place_of(*stream);
    const int device = state->driver.device(place);
    if (device < 0) { return; }  // the core asks for the stream when it meets it
    const bool blocking = (flags & D::kStreamNonBlocking) == 0;
    state->core->on_stream_create(id_of(*stream), {D::context_id(place), device, blocking, state->driver.sms(place)});
  }

  template <auto Ours>
  static int destroy_event(Event event) {
    if (Interposer<D>* state = interposer<D>()) {
      state->foreign_events.remove(event);
      state->core->on_event_destroy(id_of(event));
    }
    return process::call_real<Ours>(event);
  }

  template <auto Ours>
  static int wait_event(DefaultStream default_stream, Stream stream, Event event, unsigned flags) {
    const auto call = [&] { return process::call_real<Ours>(stream, event, flags); };
    Interposer<D>* state = interposer<D>();
    if (state == nullptr) { return call(); }
    const bool external = (flags & D::kEventExternal) != 0 && state->core->capturing();
    if (external || state->foreign_events.contains(event)) {
      return wait_for_host<D>(*state, state->stream_id(stream, default_stream), call);
    }
    const int result = call();
    if (result == D::kSuccess) { state->core->on_stream_wait(state->stream_id(stream, default_stream), id_of(event)); }
    return result;
  }

  /// `flags`: none, or those of the record.
  template <auto Ours, class... Flags>
  static int record_event(DefaultStream default_stream, Event event, Stream stream, Flags... flags) {
    Interposer<D>* state = interposer<D>();
    const std::uint64_t before = state == nullptr ? 0 : state->core->host_dependencies();
    const int result = process::call_real<Ours>(event, stream, flags...);
    if (state == nullptr || result != D::kSuccess) { return result; }
    // Captured as a node that records when the graph runs: nothing is recorded now.
    if ((((flags & D::kEventExternal) != 0) || ...) && state->core->capturing()) { return result; }
    state->core->on_event_record(id_of(event), state->stream_id(stream, default_stream), before);
    return result;
  }

  /// Another process may record it.
  static void tell_foreign(int result, const Event* event) {
    Interposer<D>* state = interposer<D>();
    if (state == nullptr || result != D::kSuccess || event == nullptr) { return; }
    state->foreign_events.add(*event);
    state->core->on_event_recorded_elsewhere();
  }

  // The point is taken before the call, because other threads may go on meanwhile.
  template <auto Ours>
  static int finish_stream(DefaultStream default_stream, Stream stream) {
    Interposer<D>* state = interposer<D>();
    if (state == nullptr) { return process::call_real<Ours>(stream); }
    return finish<Ours>(*state, state->core->stream_point(state->stream_id(stream, default_stream)), stream);
  }

  template <auto Ours>
  static int finish_event(Event event) {
    Interposer<D>* state = interposer<D>();
    if (state == nullptr) { return process::call_real<Ours>(event); }
    return finish<Ours>(*state, state->core->event_point(id_of(event)), event);
  }

 private:
  template <auto Ours, class Handle>
  static int finish(Interposer<D>& state, const SyncPoint& point, Handle handle) {
    const int result = process::call_real<Ours>(handle);
    if (result == D::kSuccess) { state.core->on_synchronized(point, process::now_ns()); }
    return result;
  }
};

}  // namespace elbowroom::interposer::driver
