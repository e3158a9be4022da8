#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "backend_cuda/handles.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::cuda {

/// Holds streams back until everything is enqueued, so that a schedule's time holds no host time. A held stream waits for a word
/// of host memory in the command processor and takes no SM. Whatever happens, destruction releases the streams.
class StartLine {
 public:
  static Result<StartLine> make();
  StartLine(StartLine&&) noexcept = default;
  StartLine& operator=(StartLine&&) = delete;
  ~StartLine() { release(); }

  /// Everything enqueued on `stream` of the current device after this call waits for the next release().
  Status hold(cudaStream_t stream);
  void release();

 private:
  using WaitValue = CUresult(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags);
  StartLine(PinnedMemory word, WaitValue* wait) : word_(std::move(word)), wait_(wait) {}

  PinnedMemory word_;
  WaitValue* wait_;
  std::uint32_t round_ = 1;
};

}  // namespace elbowroom::cuda
