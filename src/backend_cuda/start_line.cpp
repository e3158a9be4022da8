#include "backend_cuda/start_line.hpp"

#include <atomic>

#include "backend_cuda/driver_entry.hpp"

namespace elbowroom::cuda {

Result<StartLine> StartLine::make() {
  Result<PinnedMemory> word = allocate_pinned(Bytes(sizeof(std::uint32_t)));
  if (!word) return word.error();
  *static_cast<std::uint32_t*>(word->get()) = 0;
  WaitValue* wait = nullptr;
  if (Status found = driver_entry("cuStreamWaitValue32", wait); !found) return found.error();
  return StartLine(std::move(*word), wait);
}

Status StartLine::hold(cudaStream_t stream) {
  const auto address = reinterpret_cast<CUdeviceptr>(word_.get());
  if (wait_(stream, address, round_, CU_STREAM_WAIT_VALUE_GEQ) != CUDA_SUCCESS) return failed("cuStreamWaitValue32 failed");
  return {};
}

void StartLine::release() {
  if (word_ == nullptr) return;
  std::atomic_ref<std::uint32_t>(*static_cast<std::uint32_t*>(word_.get())).store(round_, std::memory_order_release);
  ++round_;
}

}  // namespace elbowroom::cuda
