#include "interposer/cuda/hooked_functions.hpp"
#include "interposer/cuda/interposer.hpp"
#include "interposer/driver/stream_hooks.hpp"
#include "interposer/process/symbol_routes.hpp"

// What orders devices among each other, and events that nobody here records.

namespace elbowroom::interposer::cuda {
namespace {

// A copy between two contexts without a stream comes after all that their devices hold, and all that follows there comes after it.
// Other threads may launch meanwhile.
template <auto Ours, class... Arguments>
int devices_wait(Arguments... arguments) {
  Interposer* state = interposer();
  if (state == nullptr) { return process::call_real<Ours>(arguments...); }
  state->core->on_devices_wait();
  const int result = process::call_real<Ours>(arguments...);
  state->core->on_devices_wait();
  return result;
}

}  // namespace
}  // namespace elbowroom::interposer::cuda

using namespace elbowroom::interposer::cuda;
using namespace elbowroom::interposer::process;

int cuMemcpyPeer(cu::DevicePointer to, cu::Context to_context, cu::DevicePointer from, cu::Context from_context,
                 std::size_t bytes) {
  return devices_wait<&cuMemcpyPeer>(to, to_context, from, from_context, bytes);
}
int cuMemcpyPeer_ptds(cu::DevicePointer to, cu::Context to_context, cu::DevicePointer from, cu::Context from_context,
                      std::size_t bytes) {
  return devices_wait<&cuMemcpyPeer_ptds>(to, to_context, from, from_context, bytes);
}
int cuMemcpy3DPeer(const void* copy) { return devices_wait<&cuMemcpy3DPeer>(copy); }
int cuMemcpy3DPeer_ptds(const void* copy) { return devices_wait<&cuMemcpy3DPeer_ptds>(copy); }

// Its kernels begin when all that their streams hold is over, and each stream goes on when all of them are. They may communicate.
int cuLaunchCooperativeKernelMultiDevice(void* launches, unsigned devices, unsigned flags) {
  note_unfollowed();
  return call_real<&cuLaunchCooperativeKernelMultiDevice>(launches, devices, flags);
}

// What it waits for is done by who draws.
int cuEventCreateFromEGLSync(cu::Event* event, void* sync, unsigned flags) {
  const int result = call_real<&cuEventCreateFromEGLSync>(event, sync, flags);
  elbowroom::interposer::driver::StreamHooks<Driver>::tell_foreign(result, event);
  return result;
}
