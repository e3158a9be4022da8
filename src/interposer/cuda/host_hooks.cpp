#include "interposer/driver/host_hooks.hpp"

#include "interposer/cuda/hooked_functions.hpp"
#include "interposer/cuda/interposer.hpp"
#include "interposer/nccl/notes.hpp"

// Where the host and the device meet: synchronous calls, copies and fills on default streams, streams that wait for the host, and
// the end of handles.

namespace elbowroom::interposer::cuda {
namespace {

using Hooks = driver::HostHooks<Driver>;

// NCCL's collectives by copy engines wait for other ranks by operations of the stream, as its kernels do by themselves.
template <auto Ours, class... Arguments>
int memory_operation(DefaultStream default_stream, cu::Stream stream, Arguments... arguments) {
  const int result = call_real<Ours>(stream, arguments...);
  if (!nccl::is_launching()) { Hooks::tell_host_dependency(result, stream, default_stream); }
  return result;
}

void forget_context(cu::Context context) {
  if (Interposer* state = interposer()) { Hooks::forget(*state, context); }
}

// Also functions of a context that nothing was told of.
void forget_device(cu::Device device) {
  Interposer* state = interposer();
  if (state == nullptr) { return; }
  state->core->on_module_unload();
  while (const cu::Context context = state->driver.contexts.any_of_device(device)) { Hooks::forget(*state, context); }
}

// The context is gone with its last reference.
void forget_if_released(int result, cu::Device device) {
  Interposer* state = interposer();
  if (result != cu::kSuccess || state == nullptr || state->driver.calls.primary_ctx_get_state == nullptr) { return; }
  unsigned flags = 0;
  int active = 1;
  if (state->driver.calls.primary_ctx_get_state(device, &flags, &active) == cu::kSuccess && active == 0) { forget_device(device); }
}

}  // namespace
}  // namespace elbowroom::interposer::cuda

using namespace elbowroom::interposer::cuda;

int cuCtxSynchronize() { return Hooks::synchronising<&cuCtxSynchronize>(&Hooks::current_place_point); }
int cuCtxSynchronize_v2(cu::Context context) {
  const auto point = [context](Interposer& state) {
    return context == nullptr ? Hooks::current_place_point(state) : state.core->context_point(id_of(context));
  };
  return Hooks::synchronising<&cuCtxSynchronize_v2>(point, context);
}
int cuMemcpyDtoH_v2(void* to, cu::DevicePointer from, std::size_t bytes) {
  return Hooks::synchronising_stream<&cuMemcpyDtoH_v2>(kLegacy, nullptr, to, from, bytes);
}
int cuMemcpyDtoH_v2_ptds(void* to, cu::DevicePointer from, std::size_t bytes) {
  return Hooks::synchronising_stream<&cuMemcpyDtoH_v2_ptds>(kPerThread, nullptr, to, from, bytes);
}

int cuMemcpyAsync(cu::DevicePointer to, cu::DevicePointer from, std::size_t bytes, cu::Stream stream) {
  return Hooks::stream_operation<&cuMemcpyAsync>(stream, to, from, bytes);
}
int cuMemcpyHtoDAsync_v2(cu::DevicePointer to, const void* from, std::size_t bytes, cu::Stream stream) {
  return Hooks::stream_operation<&cuMemcpyHtoDAsync_v2>(stream, to, from, bytes);
}
int cuMemcpyDtoHAsync_v2(void* to, cu::DevicePointer from, std::size_t bytes, cu::Stream stream) {
  return Hooks::stream_operation<&cuMemcpyDtoHAsync_v2>(stream, to, from, bytes);
}
int cuMemcpyDtoDAsync_v2(cu::DevicePointer to, cu::DevicePointer from, std::size_t bytes, cu::Stream stream) {
  return Hooks::stream_operation<&cuMemcpyDtoDAsync_v2>(stream, to, from, bytes);
}
int cuMemsetD8Async(cu::DevicePointer to, unsigned char value, std::size_t count, cu::Stream stream) {
  return Hooks::stream_operation<&cuMemsetD8Async>(stream, to, value, count);
}
int cuMemsetD32Async(cu::DevicePointer to, unsigned value, std::size_t count, cu::Stream stream) {
  return Hooks::stream_operation<&cuMemsetD32Async>(stream, to, value, count);
}

int cuLaunchHostFunc(cu::Stream stream, void (*function)(void*), void* data) {
  return Hooks::host_dependency<&cuLaunchHostFunc>(kLegacy, stream, function, data);
}
int cuLaunchHostFunc_ptsz(cu::Stream stream, void (*function)(void*), void* data) {
  return Hooks::host_dependency<&cuLaunchHostFunc_ptsz>(kPerThread, stream, function, data);
}
int cuLaunchHostFunc_v2(cu::Stream stream, void (*function)(void*), void* data, unsigned mode) {
  return Hooks::host_dependency<&cuLaunchHostFunc_v2>(kLegacy, stream, function, data, mode);
}
int cuLaunchHostFunc_v2_ptsz(cu::Stream stream, void (*function)(void*), void* data, unsigned mode) {
  return Hooks::host_dependency<&cuLaunchHostFunc_v2_ptsz>(kPerThread, stream, function, data, mode);
}
int cuStreamAddCallback(cu::Stream stream, void (*callback)(cu::Stream, int, void*), void* data, unsigned flags) {
  return Hooks::host_dependency<&cuStreamAddCallback>(kLegacy, stream, callback, data, flags);
}
int cuStreamAddCallback_ptsz(cu::Stream stream, void (*callback)(cu::Stream, int, void*), void* data, unsigned flags) {
  return Hooks::host_dependency<&cuStreamAddCallback_ptsz>(kPerThread, stream, callback, data, flags);
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
  const int result = call_real<&cuWaitExternalSemaphoresAsync>(semaphores, parameters, count, stream);
  Hooks::tell_host_dependency(result, stream, kLegacy);
  return result;
}
int cuWaitExternalSemaphoresAsync_ptsz(const void* semaphores, const void* parameters, unsigned count, cu::Stream stream) {
  const int result = call_real<&cuWaitExternalSemaphoresAsync_ptsz>(semaphores, parameters, count, stream);
  Hooks::tell_host_dependency(result, stream, kPerThread);
  return result;
}

int cuCtxDestroy(cu::Context context) {
  forget_context(context);
  return call_real<&cuCtxDestroy>(context);
}
int cuCtxDestroy_v2(cu::Context context) {
  forget_context(context);
  return call_real<&cuCtxDestroy_v2>(context);
}
int cuCtxDetach(cu::Context context) {
  forget_context(context);
  return call_real<&cuCtxDetach>(context);
}
// It holds a reference to the primary context of its device, maybe the last one.
int cuGreenCtxDestroy(cu::GreenContext green) {
  Interposer* state = interposer();
  cu::Context context = nullptr;
  const bool known = state != nullptr && state->driver.calls.ctx_from_green_ctx != nullptr &&
                     state->driver.calls.ctx_from_green_ctx(&context, green) == cu::kSuccess;
  const cu::Device device = known ? state->driver.device(context) : -1;
  if (known) { forget_context(context); }
  const int result = call_real<&cuGreenCtxDestroy>(green);
  if (device >= 0) { forget_if_released(result, device); }
  return result;
}
int cuDevicePrimaryCtxReset(cu::Device device) {
  forget_device(device);
  return call_real<&cuDevicePrimaryCtxReset>(device);
}
int cuDevicePrimaryCtxReset_v2(cu::Device device) {
  forget_device(device);
  return call_real<&cuDevicePrimaryCtxReset_v2>(device);
}
int cuDevicePrimaryCtxRelease(cu::Device device) {
  const int result = call_real<&cuDevicePrimaryCtxRelease>(device);
  forget_if_released(result, device);
  return result;
}
int cuDevicePrimaryCtxRelease_v2(cu::Device device) {
  const int result = call_real<&cuDevicePrimaryCtxRelease_v2>(device);
  forget_if_released(result, device);
  return result;
}
int cuModuleUnload(cu::Module module) { return Hooks::unload<&cuModuleUnload>(module); }
int cuLibraryUnload(cu::Library library) { return Hooks::unload<&cuLibraryUnload>(library); }
