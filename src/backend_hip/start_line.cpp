#include "backend_hip/start_line.hpp"

#include <atomic>

namespace elbowroom::hip {
namespace {

Result<bool> every_device_waits(const HipLibrary& hip, int gpus) {
  for (int device = 0; device < gpus; ++device) {
    const Result<int> can = hip.attribute(DeviceAttribute::can_use_stream_wait_value, device);
    if (!can) return can.error();
    if (*can == 0) return false;
  }
  return true;
}

/// The only kind of memory that a stream may wait for in every version; it has exactly this size.
Result<Memory> allocate_signal(const HipLibrary& hip) {
  void* memory = nullptr;
  const int code = hip.functions.ext_malloc_with_flags(&memory, sizeof(std::uint64_t), kHipMallocSignalMemory);
  if (Status made = hip.check(code, "hipExtMallocWithFlags(hipMallocSignalMemory)"); !made) return made.error();
  return Memory(memory, {hip.functions.free});
}

std::atomic_ref<std::uint64_t> shared(const Memory& word) { return std::atomic_ref(*static_cast<std::uint64_t*>(word.get())); }

}  // namespace

Result<StartLine> StartLine::make(DeviceCode& code, int gpus) {
  const Result<bool> waits = every_device_waits(code.hip(), gpus);
  if (!waits) return waits.error();
  if (Status used = code.hip().use_device(0); !used) return used.error();
  Result<Memory> word = *waits ? allocate_signal(code.hip()) : allocate_pinned(code.hip(), Bytes(sizeof(std::uint64_t)));
  if (!word) return word.error();
  shared(*word).store(0, std::memory_order_relaxed);
  StartLine line(code.hip(), std::move(*word));
  for (int device = 0; !*waits && device < gpus; ++device) {
    const Result<HipFunction> kernel = code.function("await_word", device);
    if (!kernel) return kernel.error();
    line.waiting_kernels_.push_back(*kernel);
  }
  return line;
}

Status StartLine::hold(int device, HipStream stream) {
  if (waiting_kernels_.empty()) {
    const int code = hip_->functions.stream_wait_value64(stream, word_.get(), round_, kHipStreamWaitValueGte, ~std::uint64_t{0});
    return hip_->check(code, "hipStreamWaitValue64");
  }
  // The kernel reads the word's lower half, which comes first on every host that HIP runs on.
  void* word = word_.get();
  auto value = static_cast<unsigned>(round_);
  return launch(*hip_, waiting_kernels_[static_cast<std::size_t>(device)], Extent{}, Threads(64), Bytes(0), stream,
                pointers_to(word, value), "hipModuleLaunchKernel (start line)");
}

void StartLine::release() {
  if (word_ == nullptr) return;
  shared(word_).store(round_, std::memory_order_release);
  ++round_;
}

}  // namespace elbowroom::hip
