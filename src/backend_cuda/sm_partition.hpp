#pragma once

#include <cuda.h>

#include <memory>

#include "backend_cuda/handles.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::cuda {

/// A green context of one device that leaves some SMs out, and a stream whose kernels run inside of it. What the driver's other
/// users launch may run on any SM, the ones left out included.
class SmPartition {
 public:
  /// On device `device`, which must be current. `left_out` is rounded up to what the driver can split off (8 SMs on Hopper).
  /// `unavailable` before CUDA 12.5 drivers, `invalid_input` when nothing would be left.
  static Result<SmPartition> leaving_out(Sms left_out, int device);

  [[nodiscard]] cudaStream_t stream() const { return stream_.get(); }
  /// What kernels on the stream can use.
  [[nodiscard]] Sms sms() const { return sms_; }

 private:
  struct ContextDeleter {
    CUresult (*destroy)(CUgreenCtx) = nullptr;
    void operator()(CUgreenCtx context) const { static_cast<void>(destroy(context)); }
  };
  using Context = std::unique_ptr<std::remove_pointer_t<CUgreenCtx>, ContextDeleter>;

  SmPartition(Context context, Stream stream, Sms sms) : context_(std::move(context)), stream_(std::move(stream)), sms_(sms) {}

  Context context_;
  Stream stream_;  // after its context: it goes first
  Sms sms_;
};

}  // namespace elbowroom::cuda
