#include "interposer/hip/hooked_functions.hpp"
#include "interposer/hip/interposer.hpp"

// Where the host and the device meet: synchronous calls, copies and fills on default streams, streams that wait for the host, and
// the end of handles.

namespace elbowroom::interposer::hip {
namespace {

constexpr DefaultStream kLegacy = DefaultStream::kLegacy;
constexpr DefaultStream kPerThread = DefaultStream::kPerThread;

SyncPoint device_point(Interposer& state) { return state.core->context_point(context_of_device(state.current_device())); }

// Calls the real function, which makes the host wait for all that the point names when it succeeds.
template <auto Ours, class PointOf, class... Arguments>
int synchronising(PointOf&& point_of, Arguments... arguments) {
  Interposer* state = interposer();
  if (state == nullptr) { return call_real<Ours>(arguments...); }
  const SyncPoint point = point_of(*state);
  const int result = call_real<Ours>(arguments...);
  if (result == hip::kSuccess) { state->core->on_synchronized(point, now_ns()); }
  return result;
}

// Only a copy to the host is known to wait for what is before it on its stream.
template <auto Ours, class... More>
int copy(hip::Stream stream, DefaultStream default_stream, hip::MemcpyKind kind, void* to, const void* from, std::size_t bytes,
         More... more) {
  if (kind == hip::kMemcpyDeviceToHost) {
    const auto point = [=](Interposer& state) { return state.core->stream_point(state.stream_id(stream, default_stream)); };
    return synchronising<Ours>(point, to, from, bytes, kind, more...);
  }
  const int result = call_real<Ours>(to, from, bytes, kind, more...);
  if (result != hip::kSuccess) { return result; }
  if (Interposer* state = interposer()) { state->core->on_stream_operation(state->stream_id(stream, default_stream)); }
  return result;
}

// Only work on the legacy default stream stands between the launches of other streams.
template <auto Ours, class... Arguments>
int stream_operation(hip::Stream stream, Arguments... arguments) {
  const int result = call_real<Ours>(arguments..., stream);
  if (reinterpret_cast<std::uintptr_t>(stream) > hip::kStreamLegacy || result != hip::kSuccess) { return result; }
  if (Interposer* state = interposer()) { state->core->on_stream_operation(state->stream_id(stream, kLegacy)); }
  return result;
}

void tell_host_dependency(int result, hip::Stream stream, DefaultStream default_stream) {
  if (result != hip::kSuccess) { return; }
  if (Interposer* state = interposer()) { state->core->on_host_dependency(state->stream_id(stream, default_stream)); }
}

template <auto Ours, class... Arguments>
int host_dependency(DefaultStream default_stream, hip::Stream stream, Arguments... arguments) {
  const int result = call_real<Ours>(stream, arguments...);
  tell_host_dependency(result, stream, default_stream);
  return result;
}

void forget_device(Interposer& state, int device) {
  if (device < 0) { return; }
  state.timer.forget(device);
  state.carriers.forget(device);
  state.core->on_context_destroy(context_of_device(device));
}

void tell_unloaded() {
  if (Interposer* state = interposer()) { state->core->on_module_unload(); }
}

}  // namespace
}  // namespace elbowroom::interposer::hip

using namespace elbowroom::interposer::hip;

int hipDeviceSynchronize() { return synchronising<&hipDeviceSynchronize>(&device_point); }
int hipCtxSynchronize() { return synchronising<&hipCtxSynchronize>(&device_point); }

int hipMemcpy(void* to, const void* from, std::size_t bytes, hip::MemcpyKind kind) {
  return copy<&hipMemcpy>(nullptr, kLegacy, kind, to, from, bytes);
}
int hipMemcpy_spt(void* to, const void* from, std::size_t bytes, hip::MemcpyKind kind) {
  return copy<&hipMemcpy_spt>(nullptr, kPerThread, kind, to, from, bytes);
}
int hipMemcpyWithStream(void* to, const void* from, std::size_t bytes, hip::MemcpyKind kind, hip::Stream stream) {
  return copy<&hipMemcpyWithStream>(stream, kLegacy, kind, to, from, bytes, stream);
}
int hipMemcpyDtoH(void* to, void* from, std::size_t bytes) {
  const auto point = [](Interposer& state) { return state.core->stream_point(state.stream_id(nullptr, kLegacy)); };
  return synchronising<&hipMemcpyDtoH>(point, to, from, bytes);
}
// Freeing nothing waits for nothing.
int hipFree(void* pointer) {
  if (pointer == nullptr) { return call_real<&hipFree>(pointer); }
  return synchronising<&hipFree>(&device_point, pointer);
}

int hipMemcpyAsync(void* to, const void* from, std::size_t bytes, hip::MemcpyKind kind, hip::Stream stream) {
  return stream_operation<&hipMemcpyAsync>(stream, to, from, bytes, kind);
}
int hipMemcpyHtoDAsync(void* to, void* from, std::size_t bytes, hip::Stream stream) {
  return stream_operation<&hipMemcpyHtoDAsync>(stream, to, from, bytes);
}
int hipMemcpyDtoHAsync(void* to, void* from, std::size_t bytes, hip::Stream stream) {
  return stream_operation<&hipMemcpyDtoHAsync>(stream, to, from, bytes);
}
int hipMemcpyDtoDAsync(void* to, void* from, std::size_t bytes, hip::Stream stream) {
  return stream_operation<&hipMemcpyDtoDAsync>(stream, to, from, bytes);
}
int hipMemsetAsync(void* to, int value, std::size_t bytes, hip::Stream stream) {
  return stream_operation<&hipMemsetAsync>(stream, to, value, bytes);
}
int hipMemsetD8Async(void* to, unsigned char value, std::size_t count, hip::Stream stream) {
  return stream_operation<&hipMemsetD8Async>(stream, to, value, count);
}
int hipMemsetD32Async(void* to, int value, std::size_t count, hip::Stream stream) {
  return stream_operation<&hipMemsetD32Async>(stream, to, value, count);
}

int hipLaunchHostFunc(hip::Stream stream, void (*function)(void*), void* data) {
  return host_dependency<&hipLaunchHostFunc>(kLegacy, stream, function, data);
}
int hipLaunchHostFunc_spt(hip::Stream stream, void (*function)(void*), void* data) {
  return host_dependency<&hipLaunchHostFunc_spt>(kPerThread, stream, function, data);
}
int hipStreamAddCallback(hip::Stream stream, void (*callback)(hip::Stream, int, void*), void* data, unsigned flags) {
  return host_dependency<&hipStreamAddCallback>(kLegacy, stream, callback, data, flags);
}
int hipStreamAddCallback_spt(hip::Stream stream, void (*callback)(hip::Stream, int, void*), void* data, unsigned flags) {
  return host_dependency<&hipStreamAddCallback_spt>(kPerThread, stream, callback, data, flags);
}
int hipStreamWaitValue32(hip::Stream stream, void* address, std::uint32_t value, unsigned flags, std::uint32_t mask) {
  return host_dependency<&hipStreamWaitValue32>(kLegacy, stream, address, value, flags, mask);
}
int hipStreamWaitValue64(hip::Stream stream, void* address, std::uint64_t value, unsigned flags, std::uint64_t mask) {
  return host_dependency<&hipStreamWaitValue64>(kLegacy, stream, address, value, flags, mask);
}
int hipStreamBatchMemOp(hip::Stream stream, unsigned count, void* operations, unsigned flags) {
  return host_dependency<&hipStreamBatchMemOp>(kLegacy, stream, count, operations, flags);
}
int hipWaitExternalSemaphoresAsync(const void* semaphores, const void* parameters, unsigned count, hip::Stream stream) {
  const int result = call_real<&hipWaitExternalSemaphoresAsync>(semaphores, parameters, count, stream);
  tell_host_dependency(result, stream, kLegacy);
  return result;
}

int hipDeviceReset() {
  Interposer* state = interposer();
  if (state != nullptr) { forget_device(*state, state->current_device()); }
  return call_real<&hipDeviceReset>();
}
int hipDevicePrimaryCtxReset(hip::Device device) {
  if (Interposer* state = interposer()) { forget_device(*state, device); }
  return call_real<&hipDevicePrimaryCtxReset>(device);
}
int hipModuleUnload(hip::Module module) {
  const int result = call_real<&hipModuleUnload>(module);
  tell_unloaded();
  return result;
}
int hipLibraryUnload(hip::Library library) {
  const int result = call_real<&hipLibraryUnload>(library);
  tell_unloaded();
  return result;
}
