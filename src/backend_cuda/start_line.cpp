#include "backend_cuda/start_line.hpp"

#include <atomic>

namespace headroom::cuda {

Result<StartLine> StartLine::make() {
  Result<PinnedMemory> word = allocate_pinned(Bytes(sizeof(std::uint32_t)));
  if (!word) return word.error();
  *static_cast<std::uint32_t*>(word->get()) = 0;
  // Asked for by name: linking the driver library would keep the program from starting where there is none.
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  constexpr unsigned kSince = 12'000;
  if (Status asked = check(cudaGetDriverEntryPointByVersion("cuStreamWaitValue32", &entry, kSince, cudaEnableDefault, &found),
                           "cudaGetDriverEntryPointByVersion(cuStreamWaitValue32)");
      !asked) {
    return asked.error();
  }
  if (entry == nullptr || found != cudaDriverEntryPointSuccess) return unavailable("the driver has no cuStreamWaitValue32");
  return StartLine(std::move(*word), reinterpret_cast<WaitValue*>(entry));
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

}  // namespace headroom::cuda
