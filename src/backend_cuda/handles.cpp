#include "backend_cuda/handles.hpp"

#include <fmt/format.h>

namespace elbowroom::cuda {

Status check(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return {};
  return failed(fmt::format("{} failed: {} ({})", call, cudaGetErrorString(code), cudaGetErrorName(code)));
}

Status use_device(int device) { return check(cudaSetDevice(device), "cudaSetDevice"); }

Result<PriorityRange> priority_range() {
  PriorityRange range;
  if (Status asked = check(cudaDeviceGetStreamPriorityRange(&range.least, &range.greatest), "cudaDeviceGetStreamPriorityRange");
      !asked) {
    return asked.error();
  }
  return range;
}

Result<Stream> make_stream(int priority) {
  cudaStream_t stream = nullptr;
  if (Status made = check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority), "cudaStreamCreateWithPriority");
      !made) {
    return made.error();
  }
  return Stream(stream);
}

Result<Event> make_event(EventUse use) {
  cudaEvent_t event = nullptr;
  const unsigned flags = use == EventUse::timing ? cudaEventDefault : cudaEventDisableTiming;
  if (Status made = check(cudaEventCreateWithFlags(&event, flags), "cudaEventCreateWithFlags"); !made) return made.error();
  return Event(event);
}

Result<DeviceMemory> allocate(Bytes size) {
  void* memory = nullptr;
  const cudaError_t code = cudaMalloc(&memory, static_cast<std::size_t>(size.count()));
  if (code == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());  // it would be reported again by the next launch
    return failed(
        fmt::format("out of device memory: {:.2f} GiB more were asked for", static_cast<double>(size.count()) / (1 << 30)));
  }
  if (Status made = check(code, "cudaMalloc"); !made) return made.error();
  return DeviceMemory(memory);
}

Result<PinnedMemory> allocate_pinned(Bytes size) {
  void* memory = nullptr;
  if (Status made =
          check(cudaHostAlloc(&memory, static_cast<std::size_t>(size.count()), cudaHostAllocPortable | cudaHostAllocMapped),
                "cudaHostAlloc");
      !made) {
    return made.error();
  }
  return PinnedMemory(memory);
}

}  // namespace elbowroom::cuda
