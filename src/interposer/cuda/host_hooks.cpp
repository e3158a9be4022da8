#include "interposer/driver/host_hooks.hpp"

#include "interposer/cuda/hooked_functions.hpp"
#include "interposer/cuda/interposer.hpp"
#include "interposer/driver/wait_under_way.hpp"
#include "interposer/nccl/notes.hpp"

// Where the host and the device meet: synchronous calls, copies and fills on default streams, streams that wait for the host, the
// end of handles.

namespace elbowroom::interposer::cuda {
namespace {

using HostHooks = driver::HostHooks<Driver>;

// NCCL's collectives by copy engines wait for other ranks by operations of the stream, as its kernels do by themselves.
template <auto Ours, class... Arguments>
int memory_operation(DefaultStream default_stream, cu::Stream stream, Arguments... arguments) {
  if (nccl::is_launching()) {
    Interposer* state = interposer();
    if (state == nullptr) { return call_real<Ours>(stream, arguments...); }
    const Decision decision = state->core->on_copying_collective(state->stream_id(stream, default_stream), now_ns());
    const cu::Stream named = driver::explicit_stream<Driver>(stream, default_stream);
    const bool elsewhere = decision.joins && state->driver.is_captured(named);  // in a capture that is not followed
    const int result = call_real<Ours>(stream, arguments...);
    const bool taken = result == cu::kSuccess && !elsewhere;
    state->core->on_launched(decision.ticket, taken ? LaunchOutcome::plain_ok : LaunchOutcome::failed);
    return result;
  }
  return HostHooks::host_dependency<Ours>(default_stream, stream, arguments...);
}

// What is captured next stands behind nodes that the program made by itself. Any may wait for the host. NCCL orders its own streams
// in this way.
template <auto Ours, class... Arguments>
int put_before_capture(DefaultStream default_stream, cu::Stream stream, Arguments... arguments) {
  if (nccl::is_launching()) { return call_real<Ours>(stream, arguments...); }
  return HostHooks::host_dependency<Ours>(default_stream, stream, arguments...);
}

// The driver may put the stream behind another one that frees memory, and with it behind all that this one holds.
template <auto Ours, class... Arguments>
int allocate(DefaultStream default_stream, cu::Stream stream, Arguments... arguments) {
  Interposer* state = interposer();
  if (state == nullptr) { return call_real<Ours>(arguments..., stream); }
  const StreamId id = state->stream_id(stream, default_stream);
  const driver::WaitUnderWay wait(*state->core, state->core->before_allocation(id));
  const int result = call_real<Ours>(arguments..., stream);
  if (result == cu::kSuccess) { state->core->on_memory_allocated(id); }
  return result;
}

template <auto Ours>
int free_memory(cu::DevicePointer memory, cu::Stream stream) {
  if (Interposer* state = interposer()) { state->core->on_memory_freed(); }
  return call_real<Ours>(memory, stream);
}

// One of nothing waits for nothing.
template <auto Ours>
int copy_to_host(DefaultStream default_stream, void* to, cu::DevicePointer from, std::size_t bytes) {
  if (bytes == 0) { return call_real<Ours>(to, from, bytes); }
  return HostHooks::synchronising_stream<Ours>(default_stream, nullptr, to, from, bytes);
}

template <auto Ours>
int destroy_context(cu::Context context) {
  return HostHooks::ending(context, [=] { return call_real<Ours>(context); });
}

// Also functions of a context that nothing was told of. Green contexts may have gone with it; contexts that the program made have
// not, and what they hold is under way.
void forget_own_of_device(Interposer& state, cu::Device device) {
  state.core->on_module_unload();
  while (const cu::Context context = state.driver.contexts.any_of_device(device)) { HostHooks::forget_own(state, context); }
}

template <auto Ours>
int reset_primary(cu::Device device) {
  Interposer* state = interposer();
  if (state == nullptr) { return call_real<Ours>(device); }
  const cu::Context primary = state->driver.contexts.primary(device).context;
  forget_own_of_device(*state, device);
  return HostHooks::ending(primary, [=] { return call_real<Ours>(device); });
}

// The context is gone with its last reference. Work of it that was under way has ended then.
template <class Call>
int releasing_primary(cu::Device device, Call call) {
  Interposer* state = interposer();
  if (state == nullptr) { return call(); }
  Contexts& contexts = state->driver.contexts;
  const auto [primary, identity] = contexts.primary(device);
  const SyncPoint held = state->core->context_point(Driver::context_id(primary));
  const ModuleAges functions = state->core->begin_release();  // before the call, as HostHooks::unload
  const int result = call();
  if (result == cu::kSuccess) { contexts.note_release(); }
  if (result != cu::kSuccess || contexts.lives_on(device, identity)) {
    // A driver before CUDA 12.0 does not say whether the context is another one now.
    if (result != cu::kSuccess || identity != 0) { state->core->end_release(functions); }
    return result;
  }
  forget_own_of_device(*state, device);
  if (primary != nullptr) { state->core->on_context_destroy(Driver::context_id(primary)); }
  state->core->on_synchronized(held, now_ns());
  // Another thread has made it anew: the order of its streams was forgotten as well.
  if (contexts.is_primary_active(device)) { stand_aside(Unusual::ended_context); }
  return result;
}

}  // namespace
}  // namespace elbowroom::interposer::cuda

using namespace elbowroom::interposer::cuda;

int cuCtxSynchronize() { return HostHooks::synchronising<&cuCtxSynchronize>(&HostHooks::current_place_point); }
int cuCtxSynchronize_v2(cu::Context context) {
  const auto point = [context](Interposer& state) {
    return context == nullptr ? HostHooks::current_place_point(state) : state.core->context_point(id_of(context));
  };
  return HostHooks::synchronising<&cuCtxSynchronize_v2>(point, context);
}
int cuMemcpyDtoH_v2(void* to, cu::DevicePointer from, std::size_t bytes) {
  return copy_to_host<&cuMemcpyDtoH_v2>(kLegacy, to, from, bytes);
}
int cuMemcpyDtoH_v2_ptds(void* to, cu::DevicePointer from, std::size_t bytes) {
  return copy_to_host<&cuMemcpyDtoH_v2_ptds>(kPerThread, to, from, bytes);
}

int cuMemcpyHtoDAsync_v2(cu::DevicePointer to, const void* from, std::size_t bytes, cu::Stream stream) {
  return HostHooks::sized_operation<&cuMemcpyHtoDAsync_v2>(bytes, stream, to, from, bytes);
}
int cuMemcpyDtoHAsync_v2(void* to, cu::DevicePointer from, std::size_t bytes, cu::Stream stream) {
  return HostHooks::sized_operation<&cuMemcpyDtoHAsync_v2>(bytes, stream, to, from, bytes);
}
int cuMemsetD8Async(cu::DevicePointer to, unsigned char value, std::size_t count, cu::Stream stream) {
  return HostHooks::sized_operation<&cuMemsetD8Async>(count, stream, to, value, count);
}
int cuMemsetD32Async(cu::DevicePointer to, unsigned value, std::size_t count, cu::Stream stream) {
  return HostHooks::sized_operation<&cuMemsetD32Async>(count, stream, to, value, count);
}

int cuMemAllocAsync(cu::DevicePointer* memory, std::size_t bytes, cu::Stream stream) {
  return allocate<&cuMemAllocAsync>(kLegacy, stream, memory, bytes);
}
int cuMemAllocAsync_ptsz(cu::DevicePointer* memory, std::size_t bytes, cu::Stream stream) {
  return allocate<&cuMemAllocAsync_ptsz>(kPerThread, stream, memory, bytes);
}
int cuMemAllocFromPoolAsync(cu::DevicePointer* memory, std::size_t bytes, cu::MemoryPool pool, cu::Stream stream) {
  return allocate<&cuMemAllocFromPoolAsync>(kLegacy, stream, memory, bytes, pool);
}
int cuMemAllocFromPoolAsync_ptsz(cu::DevicePointer* memory, std::size_t bytes, cu::MemoryPool pool, cu::Stream stream) {
  return allocate<&cuMemAllocFromPoolAsync_ptsz>(kPerThread, stream, memory, bytes, pool);
}
int cuMemFreeAsync(cu::DevicePointer memory, cu::Stream stream) { return free_memory<&cuMemFreeAsync>(memory, stream); }
int cuMemFreeAsync_ptsz(cu::DevicePointer memory, cu::Stream stream) { return free_memory<&cuMemFreeAsync_ptsz>(memory, stream); }

int cuLaunchHostFunc(cu::Stream stream, void (*function)(void*), void* data) {
  return HostHooks::host_dependency<&cuLaunchHostFunc>(kLegacy, stream, function, data);
}
int cuLaunchHostFunc_ptsz(cu::Stream stream, void (*function)(void*), void* data) {
  return HostHooks::host_dependency<&cuLaunchHostFunc_ptsz>(kPerThread, stream, function, data);
}
int cuLaunchHostFunc_v2(cu::Stream stream, void (*function)(void*), void* data, unsigned mode) {
  return HostHooks::host_dependency<&cuLaunchHostFunc_v2>(kLegacy, stream, function, data, mode);
}
int cuLaunchHostFunc_v2_ptsz(cu::Stream stream, void (*function)(void*), void* data, unsigned mode) {
  return HostHooks::host_dependency<&cuLaunchHostFunc_v2_ptsz>(kPerThread, stream, function, data, mode);
}
int cuStreamAddCallback(cu::Stream stream, void (*callback)(cu::Stream, int, void*), void* data, unsigned flags) {
  return HostHooks::host_dependency<&cuStreamAddCallback>(kLegacy, stream, callback, data, flags);
}
int cuStreamAddCallback_ptsz(cu::Stream stream, void (*callback)(cu::Stream, int, void*), void* data, unsigned flags) {
  return HostHooks::host_dependency<&cuStreamAddCallback_ptsz>(kPerThread, stream, callback, data, flags);
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
  return HostHooks::host_dependency_of_last<&cuWaitExternalSemaphoresAsync>(kLegacy, stream, semaphores, parameters, count);
}
int cuWaitExternalSemaphoresAsync_ptsz(const void* semaphores, const void* parameters, unsigned count, cu::Stream stream) {
  return HostHooks::host_dependency_of_last<&cuWaitExternalSemaphoresAsync_ptsz>(kPerThread, stream, semaphores, parameters, count);
}

int cuStreamUpdateCaptureDependencies(cu::Stream stream, cu::GraphNode* nodes, std::size_t count, unsigned flags) {
  return put_before_capture<&cuStreamUpdateCaptureDependencies>(kLegacy, stream, nodes, count, flags);
}
int cuStreamUpdateCaptureDependencies_ptsz(cu::Stream stream, cu::GraphNode* nodes, std::size_t count, unsigned flags) {
  return put_before_capture<&cuStreamUpdateCaptureDependencies_ptsz>(kPerThread, stream, nodes, count, flags);
}
int cuStreamUpdateCaptureDependencies_v2(cu::Stream stream, cu::GraphNode* nodes, const cu::GraphEdgeData* edges, std::size_t count,
                                         unsigned flags) {
  return put_before_capture<&cuStreamUpdateCaptureDependencies_v2>(kLegacy, stream, nodes, edges, count, flags);
}
int cuStreamUpdateCaptureDependencies_v2_ptsz(cu::Stream stream, cu::GraphNode* nodes, const cu::GraphEdgeData* edges,
                                              std::size_t count, unsigned flags) {
  return put_before_capture<&cuStreamUpdateCaptureDependencies_v2_ptsz>(kPerThread, stream, nodes, edges, count, flags);
}

int cuCtxDestroy(cu::Context context) { return destroy_context<&cuCtxDestroy>(context); }
int cuCtxDestroy_v2(cu::Context context) { return destroy_context<&cuCtxDestroy_v2>(context); }
// It may have been attached to more often, and live on with what it holds and what is ordered in it.
int cuCtxDetach(cu::Context context) {
  if (Interposer* state = interposer(); state != nullptr && context != Driver::kNowhere) {
    HostHooks::forget_own(*state, context);
    state->core->on_module_unload();
  }
  return call_real<&cuCtxDetach>(context);
}
// It holds a reference to the primary context of its device, maybe the last one.
int cuGreenCtxDestroy(cu::GreenContext green) {
  Interposer* state = interposer();
  cu::Context context = nullptr;
  const bool known = state != nullptr && state->driver.calls.ctx_from_green_ctx != nullptr &&
                     state->driver.calls.ctx_from_green_ctx(&context, green) == cu::kSuccess;
  const cu::Device device = known ? state->driver.device(context) : -1;
  const auto destroy = [=] { return HostHooks::ending(context, [=] { return call_real<&cuGreenCtxDestroy>(green); }); };
  return device < 0 ? destroy() : releasing_primary(device, destroy);
}
int cuDevicePrimaryCtxReset(cu::Device device) { return reset_primary<&cuDevicePrimaryCtxReset>(device); }
int cuDevicePrimaryCtxReset_v2(cu::Device device) { return reset_primary<&cuDevicePrimaryCtxReset_v2>(device); }
int cuDevicePrimaryCtxRelease(cu::Device device) {
  return releasing_primary(device, [=] { return call_real<&cuDevicePrimaryCtxRelease>(device); });
}
int cuDevicePrimaryCtxRelease_v2(cu::Device device) {
  return releasing_primary(device, [=] { return call_real<&cuDevicePrimaryCtxRelease_v2>(device); });
}
int cuModuleUnload(cu::Module module) { return HostHooks::unload<&cuModuleUnload>(module); }
int cuLibraryUnload(cu::Library library) { return HostHooks::unload<&cuLibraryUnload>(library); }
