#include "interposer/driver/host_hooks.hpp"

#include "interposer/hip/hooked_functions.hpp"
#include "interposer/hip/interposer.hpp"

// Where the host and the device meet: synchronous calls, what stands on default streams, and the end of handles.

namespace elbowroom::interposer::hip {
namespace {

using HostHooks = driver::HostHooks<Driver>;

// Only a copy to the host is known to wait for what is before it on its stream.
template <auto Ours, class... More>
int copy(hip::Stream stream, DefaultStream default_stream, hip::MemcpyKind kind, void* to, const void* from, std::size_t bytes,
         More... more) {
  if (kind == hip::kMemcpyDeviceToHost) {
    return HostHooks::synchronising_stream<Ours>(default_stream, stream, to, from, bytes, kind, more...);
  }
  return HostHooks::operating(driver::explicit_stream<Driver>(stream, default_stream),
                              [&] { return call_real<Ours>(to, from, bytes, kind, more...); });
}

}  // namespace
}  // namespace elbowroom::interposer::hip

using namespace elbowroom::interposer::hip;

int hipDeviceSynchronize() { return HostHooks::synchronising<&hipDeviceSynchronize>(&HostHooks::current_place_point); }
int hipCtxSynchronize() { return HostHooks::synchronising<&hipCtxSynchronize>(&HostHooks::current_place_point); }

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
  return HostHooks::synchronising_stream<&hipMemcpyDtoH>(kLegacy, nullptr, to, from, bytes);
}
// Freeing nothing waits for nothing.
int hipFree(void* pointer) {
  if (pointer == nullptr) { return call_real<&hipFree>(pointer); }
  return HostHooks::synchronising<&hipFree>(&HostHooks::current_place_point, pointer);
}

int hipMemcpyAsync(void* to, const void* from, std::size_t bytes, hip::MemcpyKind kind, hip::Stream stream) {
  return HostHooks::sized_operation<&hipMemcpyAsync>(bytes, stream, to, from, bytes, kind);
}
int hipMemcpyHtoDAsync(void* to, void* from, std::size_t bytes, hip::Stream stream) {
  return HostHooks::sized_operation<&hipMemcpyHtoDAsync>(bytes, stream, to, from, bytes);
}
int hipMemcpyDtoHAsync(void* to, void* from, std::size_t bytes, hip::Stream stream) {
  return HostHooks::sized_operation<&hipMemcpyDtoHAsync>(bytes, stream, to, from, bytes);
}
int hipMemcpyDtoDAsync(void* to, void* from, std::size_t bytes, hip::Stream stream) {
  return HostHooks::sized_operation<&hipMemcpyDtoDAsync>(bytes, stream, to, from, bytes);
}
int hipMemsetAsync(void* to, int value, std::size_t bytes, hip::Stream stream) {
  return HostHooks::sized_operation<&hipMemsetAsync>(bytes, stream, to, value, bytes);
}
int hipMemsetD8Async(void* to, unsigned char value, std::size_t count, hip::Stream stream) {
  return HostHooks::sized_operation<&hipMemsetD8Async>(count, stream, to, value, count);
}
int hipMemsetD32Async(void* to, int value, std::size_t count, hip::Stream stream) {
  return HostHooks::sized_operation<&hipMemsetD32Async>(count, stream, to, value, count);
}

// Nothing is gated here, so that a wait for the host is an operation like any other.
int hipLaunchHostFunc(hip::Stream stream, void (*function)(void*), void* data) {
  return HostHooks::stream_operation_of_first<&hipLaunchHostFunc>(stream, function, data);
}
int hipStreamAddCallback(hip::Stream stream, void (*callback)(hip::Stream, int, void*), void* data, unsigned flags) {
  return HostHooks::stream_operation_of_first<&hipStreamAddCallback>(stream, callback, data, flags);
}
int hipStreamWaitValue32(hip::Stream stream, void* address, std::uint32_t value, unsigned flags, std::uint32_t mask) {
  return HostHooks::stream_operation_of_first<&hipStreamWaitValue32>(stream, address, value, flags, mask);
}
int hipStreamWaitValue64(hip::Stream stream, void* address, std::uint64_t value, unsigned flags, std::uint64_t mask) {
  return HostHooks::stream_operation_of_first<&hipStreamWaitValue64>(stream, address, value, flags, mask);
}
int hipStreamBatchMemOp(hip::Stream stream, unsigned count, void* operations, unsigned flags) {
  return HostHooks::stream_operation_of_first<&hipStreamBatchMemOp>(stream, count, operations, flags);
}
int hipWaitExternalSemaphoresAsync(const void* semaphores, const void* parameters, unsigned count, hip::Stream stream) {
  return HostHooks::stream_operation<&hipWaitExternalSemaphoresAsync>(stream, semaphores, parameters, count);
}

int hipDeviceReset() {
  Interposer* state = interposer();
  const int device = state == nullptr ? Driver::kNowhere : state->driver.current_place();
  return HostHooks::ending(device, [] { return call_real<&hipDeviceReset>(); });
}
int hipDevicePrimaryCtxReset(hip::Device device) {
  return HostHooks::ending(device, [=] { return call_real<&hipDevicePrimaryCtxReset>(device); });
}
// The kernels of a library that is unloaded: their host functions leave their addresses to others.
void __hipUnregisterFatBinary(void** modules) {
  if (const auto function = real<&__hipUnregisterFatBinary>()) { function(modules); }
  if (Interposer* state = interposer()) { state->core->on_module_unload(); }
}
int hipModuleUnload(hip::Module module) { return HostHooks::unload<&hipModuleUnload>(module); }
int hipLibraryUnload(hip::Library library) { return HostHooks::unload<&hipLibraryUnload>(library); }
