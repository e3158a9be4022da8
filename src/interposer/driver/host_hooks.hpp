#pragma once

#include "interposer/core/unusual.hpp"
#include "interposer/driver/interposer.hpp"

namespace elbowroom::interposer::driver {

/// Hooks of what ends the life of handles. `Ours` is the hook whose real function is called.
template <class D>
struct HostHooks {
  /// `call` ends a place, with all that was loaded and made there. Where that is known, our own events go as well.
  template <class Call>
  static int ending(bool is_known, Call&& call) {
    if (is_known) { stand_aside(Unusual::ended_context); }
    return unloading(call);
  }

  /// Functions that the program loaded go. Before the call, as another thread may get their handles before it returns; after it, as
  /// another may have launched one of them until then.
  template <class Call>
  static int unloading(Call&& call) {
    tell_unloaded();
    const int result = call();
    tell_unloaded();
    return result;
  }
  template <auto Ours, class Loaded>
  static int unload(Loaded loaded) {
    return unloading([=] { return process::call_real<Ours>(loaded); });
  }

  static void tell_unloaded() {
    if (Interposer<D>* state = interposer<D>()) { state->core->on_module_unload(); }
  }
};

}  // namespace elbowroom::interposer::driver
