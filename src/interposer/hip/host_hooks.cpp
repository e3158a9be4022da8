#include "interposer/driver/host_hooks.hpp"

#include "interposer/hip/hooked_functions.hpp"
#include "interposer/hip/interposer.hpp"

// The end of handles.

namespace elbowroom::interposer::hip {
namespace {

using HostHooks = driver::HostHooks<Driver>;

bool some_are_known() {
  Interposer* state = interposer();
  return state != nullptr && state->driver.devices_seen() > 0;
}

}  // namespace
}  // namespace elbowroom::interposer::hip

using namespace elbowroom::interposer::hip;

int hipDeviceReset() {
  return HostHooks::ending(some_are_known(), [] { return call_real<&hipDeviceReset>(); });
}
int hipDevicePrimaryCtxReset(hip::Device device) {
  return HostHooks::ending(some_are_known(), [=] { return call_real<&hipDevicePrimaryCtxReset>(device); });
}
// The kernels of a library that is unloaded: their host functions leave their addresses to others.
void __hipUnregisterFatBinary(void** modules) {
  if (const auto function = real<&__hipUnregisterFatBinary>()) { function(modules); }
  HostHooks::tell_unloaded();
}
int hipModuleUnload(hip::Module module) { return HostHooks::unload<&hipModuleUnload>(module); }
int hipLibraryUnload(hip::Library library) { return HostHooks::unload<&hipLibraryUnload>(library); }
