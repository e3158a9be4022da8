#include "interposer/driver/host_hooks.hpp"

#include "interposer/core/unusual.hpp"
#include "interposer/cuda/hooked_functions.hpp"
#include "interposer/cuda/interposer.hpp"
#include "interposer/driver/followed.hpp"

// Streams that wait for the host or another process, and the end of handles.

namespace elbowroom::interposer::cuda {
namespace {

using HostHooks = driver::HostHooks<Driver>;

// So wait NCCL's collectives by copy engines for other ranks, too.
template <auto Ours, class... Arguments>
int host_wait(DefaultStream default_stream, cu::Stream stream, Arguments... arguments) {
  return driver::followed<Driver>(default_stream, stream, Core::Unknown::wait,
                                  [&] { return call_real<Ours>(stream, arguments...); });
}

template <auto Ours, auto kKnows, class Place>
int end_contexts(Place place) {
  Interposer* state = interposer();
  const bool is_known = state != nullptr && (state->driver.contexts.*kKnows)(place);
  return HostHooks::ending(is_known, [=] { return call_real<Ours>(place); });
}

// The context ends with the last reference to it alone, which the driver tells afterwards.
template <auto Ours>
int release_primary(cu::Device device) {
  const int result = HostHooks::unload<Ours>(device);
  Interposer* state = result == cu::kSuccess ? interposer() : nullptr;
  if (state == nullptr) { return result; }
  const Contexts& contexts = state->driver.contexts;
  if (contexts.knows_any_of(device) && !contexts.is_primary_active(device)) { stand_aside(Unusual::ended_context); }
  return result;
}

}  // namespace
}  // namespace elbowroom::interposer::cuda

using namespace elbowroom::interposer::cuda;
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
  return host_wait<&cuStreamWaitValue32>(kLegacy, stream, address, value, flags);
}
int cuStreamWaitValue32_ptsz(cu::Stream stream, cu::DevicePointer address, std::uint32_t value, unsigned flags) {
  return host_wait<&cuStreamWaitValue32_ptsz>(kPerThread, stream, address, value, flags);
}
int cuStreamWaitValue32_v2(cu::Stream stream, cu::DevicePointer address, std::uint32_t value, unsigned flags) {
  return host_wait<&cuStreamWaitValue32_v2>(kLegacy, stream, address, value, flags);
}
int cuStreamWaitValue32_v2_ptsz(cu::Stream stream, cu::DevicePointer address, std::uint32_t value, unsigned flags) {
  return host_wait<&cuStreamWaitValue32_v2_ptsz>(kPerThread, stream, address, value, flags);
}
int cuStreamWaitValue64(cu::Stream stream, cu::DevicePointer address, std::uint64_t value, unsigned flags) {
  return host_wait<&cuStreamWaitValue64>(kLegacy, stream, address, value, flags);
}
int cuStreamWaitValue64_ptsz(cu::Stream stream, cu::DevicePointer address, std::uint64_t value, unsigned flags) {
  return host_wait<&cuStreamWaitValue64_ptsz>(kPerThread, stream, address, value, flags);
}
int cuStreamWaitValue64_v2(cu::Stream stream, cu::DevicePointer address, std::uint64_t value, unsigned flags) {
  return host_wait<&cuStreamWaitValue64_v2>(kLegacy, stream, address, value, flags);
}
int cuStreamWaitValue64_v2_ptsz(cu::Stream stream, cu::DevicePointer address, std::uint64_t value, unsigned flags) {
  return host_wait<&cuStreamWaitValue64_v2_ptsz>(kPerThread, stream, address, value, flags);
}
int cuStreamBatchMemOp(cu::Stream stream, unsigned count, void* operations, unsigned flags) {
  return host_wait<&cuStreamBatchMemOp>(kLegacy, stream, count, operations, flags);
}
int cuStreamBatchMemOp_ptsz(cu::Stream stream, unsigned count, void* operations, unsigned flags) {
  return host_wait<&cuStreamBatchMemOp_ptsz>(kPerThread, stream, count, operations, flags);
}
int cuStreamBatchMemOp_v2(cu::Stream stream, unsigned count, void* operations, unsigned flags) {
  return host_wait<&cuStreamBatchMemOp_v2>(kLegacy, stream, count, operations, flags);
}
int cuStreamBatchMemOp_v2_ptsz(cu::Stream stream, unsigned count, void* operations, unsigned flags) {
  return host_wait<&cuStreamBatchMemOp_v2_ptsz>(kPerThread, stream, count, operations, flags);
}

int cuWaitExternalSemaphoresAsync(const void* semaphores, const void* parameters, unsigned count, cu::Stream stream) {
  return aside<&cuWaitExternalSemaphoresAsync>(Unusual::external_semaphore, semaphores, parameters, count, stream);
}
int cuWaitExternalSemaphoresAsync_ptsz(const void* semaphores, const void* parameters, unsigned count, cu::Stream stream) {
  return aside<&cuWaitExternalSemaphoresAsync_ptsz>(Unusual::external_semaphore, semaphores, parameters, count, stream);
}
int cuLaunchCooperativeKernelMultiDevice(void* launches, unsigned devices, unsigned flags) {
  return aside<&cuLaunchCooperativeKernelMultiDevice>(Unusual::multi_device_launch, launches, devices, flags);
}

int cuCtxDestroy(cu::Context context) { return end_contexts<&cuCtxDestroy, &Contexts::knows>(context); }
int cuCtxDestroy_v2(cu::Context context) { return end_contexts<&cuCtxDestroy_v2, &Contexts::knows>(context); }
int cuDevicePrimaryCtxReset(cu::Device device) { return end_contexts<&cuDevicePrimaryCtxReset, &Contexts::knows_any_of>(device); }
int cuDevicePrimaryCtxReset_v2(cu::Device device) {
  return end_contexts<&cuDevicePrimaryCtxReset_v2, &Contexts::knows_any_of>(device);
}
int cuDevicePrimaryCtxRelease(cu::Device device) { return release_primary<&cuDevicePrimaryCtxRelease>(device); }
int cuDevicePrimaryCtxRelease_v2(cu::Device device) { return release_primary<&cuDevicePrimaryCtxRelease_v2>(device); }
int cuModuleUnload(cu::Module module) { return HostHooks::unload<&cuModuleUnload>(module); }
int cuLibraryUnload(cu::Library library) { return HostHooks::unload<&cuLibraryUnload>(library); }
