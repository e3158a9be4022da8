#pragma once

#include "interposer/core/lanes.hpp"
#include "interposer/driver/interposer.hpp"

namespace elbowroom::interposer::driver {

/// Hooks of streams and events: what the program orders by itself. `Ours` is the hook whose real function is called.
template <class D>
struct StreamHooks {
  using Stream = typename D::Stream;
  using Event = typename D::Event;

  // What is destroyed is forgotten before the call, because another thread may get its handle before that returns.
  template <auto Ours>
  static int destroy_event(Event event) {
    Interposer<D>* state = interposer<D>();
    if (state != nullptr && state->core->follows_order()) { state->core->on_event_destroy(id_of(event)); }
    return process::call_real<Ours>(event);
  }

  template <auto Ours>
  static int destroy_stream(Stream stream) {
    Interposer<D>* state = interposer<D>();
    if (state == nullptr || is_default_stream<D>(stream)) { return process::call_real<Ours>(stream); }
    const LastEnd last = state->core->on_stream_destroy(id_of(stream));
    if (last.slot != kNoEvent) {
      const bool recorded =
          !state->driver.is_captured(stream) && state->ends.record(D::place_of(last.context), last.slot, stream, false);
      state->core->on_end_recorded(last.ticket, recorded);
    }
    return process::call_real<Ours>(stream);
  }

  template <auto Ours>
  static int wait_event(DefaultStream default_stream, Stream stream, Event event, unsigned flags) {
    const auto call = [&] { return process::call_real<Ours>(stream, event, flags); };
    Interposer<D>* state = interposer<D>();
    if (state == nullptr || !state->core->follows_order()) { return call(); }
    const WaitMark mark = state->core->before_wait(id_of(event));
    // In a capture it orders nodes. Where nothing is known of the event, nobody needs to ask.
    const bool grows = mark.clock != VectorClock{} && !state->driver.is_captured(explicit_stream<D>(stream, default_stream));
    const int result = call();
    if (grows && result == D::kSuccess) { state->core->after_wait(state->stream_id(stream, default_stream), id_of(event), mark); }
    return result;
  }

  /// `flags`: none, or those of the record.
  template <auto Ours, class... Flags>
  static int record_event(DefaultStream default_stream, Event event, Stream stream, Flags... flags) {
    const auto call = [&] { return process::call_real<Ours>(event, stream, flags...); };
    Interposer<D>* state = interposer<D>();
    if (state == nullptr || !state->core->follows_order()) { return call(); }
    const RecordMark mark = state->core->before_record(id_of(event), state->stream_id(stream, default_stream));
    const bool grows = mark.clock != VectorClock{} && !state->driver.is_captured(explicit_stream<D>(stream, default_stream));
    const int result = call();
    state->core->after_record(id_of(event), mark, grows && result == D::kSuccess);
    return result;
  }
};

}  // namespace elbowroom::interposer::driver
