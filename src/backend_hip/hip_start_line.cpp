#include "backend_hip/hip_start_line.hpp"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "backend_gpu/own_kernel.hpp"

namespace elbowroom::hip {
namespace {

Result<bool> every_device_waits(const HipLibrary& hip, const std::vector<int>& devices) {
  for (const int device : devices) {
    const Result<int> can = hip.attribute(DeviceAttribute::can_use_stream_wait_value, device);
    if (!can) { return can.error(); }
    if (*can == 0) { return false; }
  }
  return true;
}

/// The only kind of memory that a stream may wait for in every version; it has exactly this size.
Result<gpu::Memory> allocate_signal(const HipLibrary& hip) {
  void* memory = nullptr;
  const int code = hip.functions.ext_malloc_with_flags(&memory, sizeof(std::uint64_t), kHipMallocSignalMemory);
  if (Status made = hip.runtime().check(code, "hipExtMallocWithFlags(hipMallocSignalMemory)"); !made) { return made.error(); }
  return gpu::Memory(memory, {hip.runtime().calls.free.function});
}

class WaitingStreams final : public gpu::StartLine {
 public:
  WaitingStreams(const HipLibrary& hip, gpu::Memory word) : StartLine(std::move(word)), hip_(hip) {}

  Status hold(int, gpu::StreamHandle stream) override {
    const int code = hip_.functions.stream_wait_value64(stream, address(), round(), kHipStreamWaitValueGte, ~std::uint64_t{0});
    return hip_.runtime().check(code, "hipStreamWaitValue64");
  }

 private:
  const HipLibrary& hip_;
};

class WaitingKernels final : public gpu::StartLine {
 public:
  WaitingKernels(const gpu::Runtime& runtime, gpu::Memory word, std::map<int, gpu::OwnFunction> kernels)
      : StartLine(std::move(word)), runtime_(runtime), kernels_(std::move(kernels)) {}

  Status hold(int device, gpu::StreamHandle stream) override {
    // The kernel reads the word's lower half.
    void* word = address();
    auto value = static_cast<unsigned>(round());
    return gpu::launch(runtime_, kernels_.at(device), Extent{}, Bytes(0), stream, gpu::pointers_to(word, value), "start line");
  }

 private:
  const gpu::Runtime& runtime_;
  std::map<int, gpu::OwnFunction> kernels_;  ///< by device
};

}  // namespace

Result<std::unique_ptr<gpu::StartLine>> make_start_line(const HipLibrary& hip, const gpu::Runtime& runtime, DeviceCode& code,
                                                        const std::vector<int>& devices) {
  const Result<bool> waits = every_device_waits(hip, devices);
  if (!waits) { return waits.error(); }
  if (Status used = runtime.use_device(devices.front()); !used) { return used.error(); }
  Result<gpu::Memory> word = *waits ? allocate_signal(hip) : gpu::allocate_pinned(runtime, Bytes(sizeof(std::uint64_t)));
  if (!word) { return word.error(); }
  if (*waits) { return std::unique_ptr<gpu::StartLine>(std::make_unique<WaitingStreams>(hip, std::move(*word))); }
  std::map<int, gpu::OwnFunction> kernels;
  for (const int device : devices) {
    const Result<gpu::Function> kernel = code.function("await_word", device);
    if (!kernel) { return kernel.error(); }
    kernels.emplace(device, gpu::OwnFunction{*kernel, Threads(64)});
  }
  return std::unique_ptr<gpu::StartLine>(std::make_unique<WaitingKernels>(runtime, std::move(*word), std::move(kernels)));
}

}  // namespace elbowroom::hip
