#pragma once

#include "interposer/driver/interposer.hpp"

namespace elbowroom::interposer::driver {

/// Hooks of what ends the life of handles. `Ours` is the hook whose real function is called.
template <Driver D>
struct HostHooks {
  using Place = typename D::Place;

  /// Events of ours that were made there are gone, and what streams and events of it are behind.
  static void forget(Interposer<D>& state, Place place) {
    state.timer.forget(place);
    state.ends.forget(place);
    state.driver.forget(place);
    state.core->on_context_end(D::context_id(place));
  }

  /// `call` ends the place.
  template <class Call>
  static int ending(Place place, Call&& call) {
    Interposer<D>* state = interposer<D>();
    if (state == nullptr || place == D::kNowhere) { return call(); }
    state->timer.forget(place);
    state->ends.forget(place);
    state->driver.forget(place);
    state->core->on_module_unload();
    const int result = call();
    if (result == D::kSuccess) { state->core->on_context_end(D::context_id(place)); }
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

  static void tell_unloaded() {
    if (Interposer<D>* state = interposer<D>()) { state->core->on_module_unload(); }
  }
};

}  // namespace elbowroom::interposer::driver
