#pragma once

#include "interposer/core/unusual.hpp"
#include "interposer/driver/host_wait.hpp"

namespace elbowroom::interposer::driver {

/// Hooks where the host and the device meet: synchronous calls, copies and fills on default streams, streams that wait for the
/// host, the end of handles. `Ours` is the hook whose real function is called.
template <Driver D>
struct HostHooks {
  using Stream = typename D::Stream;
  using Place = typename D::Place;

  /// All that the calling thread's place has enqueued.
  static SyncPoint current_place_point(Interposer<D>& state) {
    return state.core->context_point(D::context_id(state.driver.current_place()));
  }

  /// Calls the real function, which makes the host wait for all that `point_of(state)` names when it succeeds.
  template <auto Ours, class PointOf, class... Arguments>
  static int synchronising(PointOf&& point_of, Arguments... arguments) {
    Interposer<D>* state = left_alone<D>() ? nullptr : interposer<D>();
    if (state == nullptr || state->core->at_rest()) { return process::call_real<Ours>(arguments...); }
    const SyncPoint point = point_of(*state);
    const int result = process::call_real<Ours>(arguments...);
    if (result == D::kSuccess) { state->core->on_synchronized(point, process::now_ns()); }
    return result;
  }

  /// The same for what is on one stream.
  template <auto Ours, class... Arguments>
  static int synchronising_stream(DefaultStream default_stream, Stream stream, Arguments... arguments) {
    const auto point = [=](Interposer<D>& state) { return state.core->stream_point(state.stream_id(stream, default_stream)); };
    return synchronising<Ours>(point, arguments...);
  }

  /// `call` is an operation of the stream. One of the legacy stream is told.
  template <class Call>
  static int operating(Stream stream, Call&& call) {
    const bool legacy = reinterpret_cast<std::uintptr_t>(stream) <= D::kStreamLegacy;
    Interposer<D>* state = legacy && !left_alone<D>() ? interposer<D>() : nullptr;
    if (state == nullptr || state->core->at_rest()) { return call(); }
    const RecordPoint before = state->core->before_operation();
    const int result = call();
    if (result == D::kSuccess) { state->core->on_stream_operation(state->stream_id(stream, kLegacy), before); }
    return result;
  }
  /// Only work on the legacy default stream stands between the launches of other streams.
  template <auto Ours, class... Arguments>
  static int stream_operation(Stream stream, Arguments... arguments) {
    return operating(stream, [&] { return process::call_real<Ours>(arguments..., stream); });
  }
  /// A copy or a fill. Other streams do not wait for one of nothing.
  template <auto Ours, class... Arguments>
  static int sized_operation(std::size_t size, Stream stream, Arguments... arguments) {
    return size == 0 ? process::call_real<Ours>(arguments..., stream) : stream_operation<Ours>(stream, arguments...);
  }
  /// For functions that take no stream and use the legacy one.
  template <auto Ours, class... Arguments>
  static int legacy_operation(Arguments... arguments) {
    return operating(nullptr, [&] { return process::call_real<Ours>(arguments...); });
  }
  /// For functions whose first argument is the stream.
  template <auto Ours, class... Arguments>
  static int stream_operation_of_first(Stream stream, Arguments... arguments) {
    return operating(stream, [&] { return process::call_real<Ours>(stream, arguments...); });
  }

  template <auto Ours, class... Arguments>
  static int host_dependency(DefaultStream default_stream, Stream stream, Arguments... arguments) {
    return waiting(default_stream, stream, [&] { return process::call_real<Ours>(stream, arguments...); });
  }
  /// For functions whose last argument is the stream.
  template <auto Ours, class... Arguments>
  static int host_dependency_of_last(DefaultStream default_stream, Stream stream, Arguments... arguments) {
    return waiting(default_stream, stream, [&] { return process::call_real<Ours>(arguments..., stream); });
  }

  /// The place may go, with all that was made in it. Whatever it is given next is not what it had.
  static void forget(Interposer<D>& state, Place place) {
    if (place == D::kNowhere) { return; }
    forget_own(state, place);
    state.core->on_context_destroy(D::context_id(place));
  }
  /// The same of what is kept for the interposer's own use alone.
  static void forget_own(Interposer<D>& state, Place place) {
    state.timer.forget(place);
    state.driver.forget(place);
  }

  /// `call` ends the place. What it holds is over then, and not before: the call may wait for it, or fail.
  template <class Call>
  static int ending(Place place, Call&& call) {
    Interposer<D>* state = interposer<D>();
    if (state == nullptr || place == D::kNowhere) { return call(); }
    const SyncPoint held = state->core->context_point(D::context_id(place));
    forget(*state, place);
    const int result = call();
    if (result == D::kSuccess) {
      state->core->on_synchronized(held, process::now_ns());
    } else {
      stand_aside(Unusual::ended_context);  // it lives on, and the order of its streams was forgotten
    }
    return result;
  }

  /// Functions that the program loaded go. Before the call, as another thread may get their handles before it returns; after it, as
  /// another may have launched one of them until then.
  template <auto Ours, class Loaded>
  static int unload(Loaded loaded) {
    tell_unloaded();
    const int result = process::call_real<Ours>(loaded);
    tell_unloaded();
    return result;
  }

 private:
  template <class Call>
  static int waiting(DefaultStream default_stream, Stream stream, Call&& call) {
    Interposer<D>* state = interposer<D>();
    return state == nullptr ? call() : wait_for_host<D>(*state, state->stream_id(stream, default_stream), call);
  }
  static void tell_unloaded() {
    if (Interposer<D>* state = interposer<D>()) { state->core->on_module_unload(); }
  }
};

}  // namespace elbowroom::interposer::driver
