#pragma once

#include <optional>

#include "interposer/driver/host_wait.hpp"
#include "interposer/driver/unseen_record.hpp"
#include "interposer/driver/wait_under_way.hpp"

namespace elbowroom::interposer::driver {

/// Hooks of streams and events: what the program orders by itself. Facts are told once the driver has accepted the call. `Ours` is
/// the hook whose real function is called.
template <Driver D>
struct StreamHooks {
  using Stream = typename D::Stream;
  using Event = typename D::Event;

  static void tell_created(int result, const Stream* stream, unsigned flags, int priority) {
    Interposer<D>* state = interposer<D>();
    if (state == nullptr || result != D::kSuccess || stream == nullptr || *stream == nullptr) { return; }
    const typename D::Place place = state->driver.place_of(*stream);
    const int device = state->driver.device(place);
    if (device < 0) { return; }  // the core asks for the stream when it meets it
    const bool blocking = (flags & D::kStreamNonBlocking) == 0;
    state->core->on_stream_create(id_of(*stream), {D::context_id(place), device, blocking, state->driver.sms(place), priority < 0});
  }

  // What is destroyed is forgotten before the call, because another thread may get its handle before that returns. Where the driver
  // refuses, it lives on, and what it stands behind is not known any more.
  template <auto Ours>
  static int destroy_event(Event event) {
    Interposer<D>* state = interposer<D>();
    if (state == nullptr || event == nullptr) { return process::call_real<Ours>(event); }
    const bool foreign = state->foreign_events.remove(event);
    state->core->on_event_destroy(id_of(event));
    const int result = process::call_real<Ours>(event);
    if (result == D::kSuccess) { return result; }
    if (foreign) { state->foreign_events.add(event); }
    const UnseenRecord forgotten(*state->core, id_of(event));
    return result;
  }

  template <auto Ours>
  static int destroy_stream(Stream stream) {
    Interposer<D>* state = interposer<D>();
    if (state == nullptr || is_default_stream<D>(stream)) { return process::call_real<Ours>(stream); }
    const std::optional<StreamInfo> known = state->core->on_stream_destroy(id_of(stream));
    const int result = process::call_real<Ours>(stream);
    if (known && result != D::kSuccess) { state->core->on_stream_kept(id_of(stream), *known); }
    return result;
  }

  template <auto Ours>
  static int wait_event(DefaultStream default_stream, Stream stream, Event event, unsigned flags) {
    const auto call = [&] { return process::call_real<Ours>(stream, event, flags); };
    if (flags == 0 && leaves_waits_alone<D>()) { return wait_at_rest(default_stream, stream, event, call); }
    Interposer<D>* state = interposer<D>();
    if (state == nullptr) { return call(); }
    const bool external = (flags & D::kEventExternal) != 0;
    if ((external && state->core->capturing()) || state->foreign_events.contains(event)) {
      return wait_for_host<D>(*state, state->stream_id(stream, default_stream), call);
    }
    if (state->core->at_rest()) { return wait_at_rest(default_stream, stream, event, call); }
    // A node of a capture that began past the hooks: the stream itself waits for nothing.
    if (external && state->driver.is_captured(explicit_stream<D>(stream, default_stream))) { return call(); }
    const StreamId id = state->stream_id(stream, default_stream);
    const RecordPoint before = state->core->before_wait(id_of(event));
    const WaitUnderWay wait(*state->core, state->core->before_stream_wait(id, id_of(event), before.records));
    const int result = call();
    if (result == D::kSuccess) { state->core->on_stream_wait(id, id_of(event), before); }
    return result;
  }

  /// `flags`: none, or those of the record.
  template <auto Ours, class... Flags>
  static int record_event(DefaultStream default_stream, Event event, Stream stream, Flags... flags) {
    const auto call = [&] { return process::call_real<Ours>(event, stream, flags...); };
    if (left_alone<D>()) { return record_at_rest(event, call); }
    Interposer<D>* state = interposer<D>();
    if (state == nullptr) { return call(); }
    if (state->core->at_rest()) { return record_at_rest(event, call); }
    const bool external = (((flags & D::kEventExternal) != 0) || ...);
    const RecordPoint before = state->core->before_event_record(id_of(event));
    // A capture may have begun past the hooks. Where no stream ever waited for the host, and no collective is under way, nothing is
    // concluded from the event that could hold the program up.
    const bool asks = external || before.host_dependencies != 0 || before.collectives;
    const bool captured = asks && state->driver.is_captured(explicit_stream<D>(stream, default_stream));
    const int result = call();
    // As a node that records when the graph runs: nothing is recorded now.
    const bool later = external && captured;
    if (result == D::kSuccess && !later) {
      state->core->on_event_record(id_of(event), state->stream_id(stream, default_stream), before, captured);
    } else {
      state->core->on_event_not_recorded(id_of(event), before);
    }
    return result;
  }

  /// Another process may record it.
  static void tell_foreign(int result, const Event* event) {
    Interposer<D>* state = interposer<D>();
    if (state == nullptr || result != D::kSuccess || event == nullptr) { return; }
    state->foreign_events.add(*event);
    const UnseenRecord possible(*state->core, id_of(*event));
  }

  // The point is taken before the call, because other threads may go on meanwhile.
  template <auto Ours>
  static int finish_stream(DefaultStream default_stream, Stream stream) {
    Interposer<D>* state = left_alone<D>() ? nullptr : interposer<D>();
    if (state == nullptr || state->core->at_rest()) { return process::call_real<Ours>(stream); }
    return finish<Ours>(*state, state->core->stream_point(state->stream_id(stream, default_stream)), stream);
  }

  template <auto Ours>
  static int finish_event(Event event) {
    Interposer<D>* state = left_alone<D>() ? nullptr : interposer<D>();
    // Which record has passed is not known where another process may have made one.
    if (state == nullptr || state->core->at_rest() || state->foreign_events.contains(event)) {
      return process::call_real<Ours>(event);
    }
    return finish<Ours>(*state, state->core->event_point(id_of(event)), event);
  }

 private:
  // A rest may end while the driver is called. Nobody knows then which record the stream waits for, or that there is a new one.
  template <class Call>
  static int wait_at_rest(DefaultStream default_stream, Stream stream, Event event, Call&& call) {
    constexpr RecordPoint kUnknown{.records = ~std::uint64_t{0}};  // no count of records that stays
    const int result = call();
    Interposer<D>* state = result != D::kSuccess || left_alone<D>() ? nullptr : interposer<D>();
    if (state != nullptr && !state->core->at_rest()) {
      state->core->on_stream_wait(state->stream_id(stream, default_stream), id_of(event), kUnknown);
    }
    return result;
  }
  template <class Call>
  static int record_at_rest(Event event, Call&& call) {
    const int result = call();
    Interposer<D>* state = left_alone<D>() ? nullptr : interposer<D>();
    if (state != nullptr && !state->core->at_rest()) { const UnseenRecord began_before(*state->core, id_of(event)); }
    return result;
  }
  template <auto Ours, class Handle>
  static int finish(Interposer<D>& state, const SyncPoint& point, Handle handle) {
    const int result = process::call_real<Ours>(handle);
    if (result == D::kSuccess) { state.core->on_synchronized(point, process::now_ns()); }
    return result;
  }
};

}  // namespace elbowroom::interposer::driver
