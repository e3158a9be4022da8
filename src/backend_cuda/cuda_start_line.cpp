#include "backend_cuda/cuda_start_line.hpp"

#include <cuda.h>

#include <utility>

#include "backend_cuda/driver_entry.hpp"

namespace elbowroom::cuda {
namespace {

using WaitValue = gpu::Call<gpu::StreamHandle, CUdeviceptr, cuuint32_t, unsigned>;

class WaitingStreams final : public gpu::StartLine {
 public:
  WaitingStreams(gpu::Memory word, const WaitValue& wait) : StartLine(std::move(word)), wait_(wait) {}

  Status hold(int, gpu::StreamHandle stream) override {
    // Of the word the lower half: not every device waits for 64 bits.
    return linked_runtime().call(wait_, stream, reinterpret_cast<CUdeviceptr>(address()), static_cast<cuuint32_t>(round()),
                                 CU_STREAM_WAIT_VALUE_GEQ);
  }

 private:
  WaitValue wait_;
};

}  // namespace

Result<std::unique_ptr<gpu::StartLine>> make_start_line() {
  Result<gpu::Memory> word = gpu::allocate_pinned(linked_runtime(), Bytes(sizeof(std::uint64_t)));
  if (!word) { return word.error(); }
  WaitValue wait;
  if (Status found = driver_entry("cuStreamWaitValue32", wait); !found) { return found.error(); }
  return std::unique_ptr<gpu::StartLine>(std::make_unique<WaitingStreams>(std::move(*word), wait));
}

}  // namespace elbowroom::cuda
