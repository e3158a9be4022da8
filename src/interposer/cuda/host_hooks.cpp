#include "interposer/driver/host_hooks.hpp"

#include "interposer/core/unusual.hpp"
#include "interposer/cuda/hooked_functions.hpp"
#include "interposer/cuda/interposer.hpp"
#include "interposer/driver/followed.hpp"
#include "interposer/nccl/notes.hpp"

// Streams that wait for the host or another process, and the end of handles.

namespace elbowroom::interposer::cuda {
namespace {

using HostHooks = driver::HostHooks<Driver>;

template <auto Ours, class... Arguments>
int host_wait(DefaultStream default_stream, cu::Stream stream, Arguments... arguments) {
  return driver::followed<Driver>(default_stream, stream, Core::Unknown::host_wait,
                                  [&] { return call_real<Ours>(stream, arguments...); });
}

// NCCL's collectives by copy engines wait for other ranks by operations of the stream, as its kernels do by themselves.
template <auto Ours, class... Arguments>
int memory_operation(DefaultStream default_stream, cu::Stream stream, Arguments... arguments) {
  const Core::Unknown what = nccl::is_launching() ? Core::Unknown::copying_collective : Core::Unknown::host_wait;
  return driver::followed<Driver>(default_stream, stream, what, [&] { return call_real<Ours>(stream, arguments...); });
}

template <auto Ours>
int destroy_context(cu::Context context) {
  return HostHooks::ending(context, [=] { return call_real<Ours>(context); });
}

// Contexts of the device that the program made may live on: what is known of them is forgotten as well.
void forget_device(Interposer& state, cu::Device device) {
  state.core->on_module_unload();
  while (const cu::Context context = state.driver.contexts.any_of_device(device)) { HostHooks::forget(state, context); }
}

/// `always`: also where another reference to the context is left.
template <class Call>
int ending_primary(cu::Device device, bool always, Call call) {
  HostHooks::tell_unloaded();  // another thread may get the handles of functions before the call returns
  const int result = call();
  Interposer* state = result == cu::kSuccess ? interposer() : nullptr;
  if (state != nullptr && (always || !state->driver.contexts.is_primary_active(device))) { forget_device(*state, device); }
  return result;
}

}  // namespace
}  // namespace elbowroom::interposer::cuda

using namespace elbowroom::interposer::cuda;
using elbowroom::interposer::stand_aside;
using elbowroom::interposer::Unusual;

int cuLaunchHostFunc(cu::Stream stream, void (*function)(void*), void* data) {
  return host_wait<&cuLaunchHostFunc>(kLegacy, stream, function, data);
}
int cuLaunchHostFunc_ptsz(cu::Stream stream, void (*function)(void*), void* data) {
  return host_wait<&cuLaunchHostFunc_ptsz>(kPerThread, stream, function, data);
}
int cuLaunchHostFunc_v2(cu::Stream stream, void (*function)(void*), void* data, unsigned mode) {
  return host_wait<&cuLaunchHostFunc_v2>(kLegacy, stream, function, data, mode);
}
int cuLaunchHostFunc_v2_ptsz(cu::Stream stream, void (*function)(void*), void* data, unsigned mode) {
  return host_wait<&cuLaunchHostFunc_v2_ptsz>(kPerThread, stream, function, data, mode);
}
int cuStreamAddCallback(cu::Stream stream, void (*callback)(cu::Stream, int, void*), void* data, unsigned flags) {
  return host_wait<&cuStreamAddCallback>(kLegacy, stream, callback, data, flags);
}
int cuStreamAddCallback_ptsz(cu::Stream stream, void (*callback)(cu::Stream, int, void*), void* data, unsigned flags) {
  return host_wait<&cuStreamAddCallback_ptsz>(kPerThread, stream, callback, data, flags);
}
int cuStreamWaitValue32(cu::Stream stream, cu::DevicePointer address, std::uint32_t value, unsigned flags) {
  return memory_operation<&cuStreamWaitValue32>(kLegacy, stream, address, value, flags);
}
int cuStreamWaitValue32_ptsz(cu::Stream stream, cu::DevicePointer address, std::uint32_t value, unsigned flags) {
  return memory_operation<&cuStreamWaitValue32_ptsz>(kPerThread, stream, address, value, flags);
}
int cuStreamWaitValue32_v2(cu::Stream stream, cu::DevicePointer address, std::uint32_t value, unsigned flags) {
  return memory_operation<&cuStreamWaitValue32_v2>(kLegacy, stream, address, value, flags);
}
int cuStreamWaitValue32_v2_ptsz(cu::Stream stream, cu::DevicePointer address, std::uint32_t value, unsigned flags) {
  return memory_operation<&cuStreamWaitValue32_v2_ptsz>(kPerThread, stream, address, value, flags);
}
int cuStreamWaitValue64(cu::Stream stream, cu::DevicePointer address, std::uint64_t value, unsigned flags) {
  return memory_operation<&cuStreamWaitValue64>(kLegacy, stream, address, value, flags);
}
int cuStreamWaitValue64_ptsz(cu::Stream stream, cu::DevicePointer address, std::uint64_t value, unsigned flags) {
  return memory_operation<&cuStreamWaitValue64_ptsz>(kPerThread, stream, address, value, flags);
}
int cuStreamWaitValue64_v2(cu::Stream stream, cu::DevicePointer address, std::uint64_t value, unsigned flags) {
  return memory_operation<&cuStreamWaitValue64_v2>(kLegacy, stream, address, value, flags);
}
int cuStreamWaitValue64_v2_ptsz(cu::Stream stream, cu::DevicePointer address, std::uint64_t value, unsigned flags) {
  return memory_operation<&cuStreamWaitValue64_v2_ptsz>(kPerThread, stream, address, value, flags);
}
int cuStreamBatchMemOp(cu::Stream stream, unsigned count, void* operations, unsigned flags) {
  return memory_operation<&cuStreamBatchMemOp>(kLegacy, stream, count, operations, flags);
}
int cuStreamBatchMemOp_ptsz(cu::Stream stream, unsigned count, void* operations, unsigned flags) {
  return memory_operation<&cuStreamBatchMemOp_ptsz>(kPerThread, stream, count, operations, flags);
}
int cuStreamBatchMemOp_v2(cu::Stream stream, unsigned count, void* operations, unsigned flags) {
  return memory_operation<&cuStreamBatchMemOp_v2>(kLegacy, stream, count, operations, flags);
}
int cuStreamBatchMemOp_v2_ptsz(cu::Stream stream, unsigned count, void* operations, unsigned flags) {
  return memory_operation<&cuStreamBatchMemOp_v2_ptsz>(kPerThread, stream, count, operations, flags);
}

int cuWaitExternalSemaphoresAsync(const void* semaphores, const void* parameters, unsigned count, cu::Stream stream) {
  stand_aside(Unusual::external_semaphore);
  return call_real<&cuWaitExternalSemaphoresAsync>(semaphores, parameters, count, stream);
}
int cuWaitExternalSemaphoresAsync_ptsz(const void* semaphores, const void* parameters, unsigned count, cu::Stream stream) {
  stand_aside(Unusual::external_semaphore);
  return call_real<&cuWaitExternalSemaphoresAsync_ptsz>(semaphores, parameters, count, stream);
}
int cuLaunchCooperativeKernelMultiDevice(void* launches, unsigned devices, unsigned flags) {
  stand_aside(Unusual::multi_device_launch);
  return call_real<&cuLaunchCooperativeKernelMultiDevice>(launches, devices, flags);
}

int cuCtxDestroy(cu::Context context) { return destroy_context<&cuCtxDestroy>(context); }
int cuCtxDestroy_v2(cu::Context context) { return destroy_context<&cuCtxDestroy_v2>(context); }
int cuDevicePrimaryCtxReset(cu::Device device) {
  return ending_primary(device, true, [=] { return call_real<&cuDevicePrimaryCtxReset>(device); });
}
int cuDevicePrimaryCtxReset_v2(cu::Device device) {
  return ending_primary(device, true, [=] { return call_real<&cuDevicePrimaryCtxReset_v2>(device); });
}
int cuDevicePrimaryCtxRelease(cu::Device device) {
  return ending_primary(device, false, [=] { return call_real<&cuDevicePrimaryCtxRelease>(device); });
}
int cuDevicePrimaryCtxRelease_v2(cu::Device device) {
  return ending_primary(device, false, [=] { return call_real<&cuDevicePrimaryCtxRelease_v2>(device); });
}
int cuModuleUnload(cu::Module module) { return HostHooks::unload<&cuModuleUnload>(module); }
int cuLibraryUnload(cu::Library library) { return HostHooks::unload<&cuLibraryUnload>(library); }
