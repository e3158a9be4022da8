#include "backend_hip/library_gemm.hpp"

#include <fmt/format.h>

#include "backend_hip/gemm_operands.hpp"
#include "backend_hip/rocblas_library.hpp"

namespace elbowroom::hip {
namespace {

class LibraryGemmKernel final : public ComputeKernel {
 public:
  static Result<std::unique_ptr<ComputeKernel>> make(DeviceCode& code, const LibraryGemm& gemm, Sms sms, int gpus,
                                                     std::uint64_t seed) {
    Result<RocblasLibrary> rocblas = RocblasLibrary::load(code.hip().generation());
    if (!rocblas) return rocblas.error();
    const GemmExtents extents{gemm.m, gemm.n, gemm.k, gemm.dtype, gemm.dtype};
    Result<GemmOperands> operands = GemmOperands::make(code, extents, gpus, seed);
    if (!operands) return operands.error();
    std::unique_ptr<LibraryGemmKernel> made(new LibraryGemmKernel(std::move(*rocblas), std::move(*operands), sms));
    for (int device = 0; device < gpus; ++device) {
      if (Status added = made->add_device(code.hip(), device); !added) return added.error();
    }
    made->facts_.shape_refusal = "the library launches its own kernel, its shared memory is not ours to pad";
    return std::unique_ptr<ComputeKernel>(std::move(made));
  }

  ~LibraryGemmKernel() override {
    for (RocblasHandle handle : handles_) static_cast<void>(rocblas_.functions.destroy_handle(handle));
  }

  [[nodiscard]] const ComputeFacts& facts() const override { return facts_; }

  [[nodiscard]] Status accepts(const OverlapPlan& plan) const override {
    if (plan.pad != Bytes(0)) {
      return invalid_input(fmt::format("pad_bytes: library_gemm cannot be shaped: {}", facts_.shape_refusal));
    }
    if (plan.sm_target && (*plan.sm_target < Sms(1) || *plan.sm_target > sms_)) {
      return invalid_input(fmt::format("sm_target: {}, expected 1 to {}", plan.sm_target->count(), sms_.count()));
    }
    return {};
  }

  Status launch(int device, HipStream stream, const OverlapPlan&) override {
    const RocblasHandle handle = handles_[static_cast<std::size_t>(device)];
    const RocblasLibrary::Functions& call = rocblas_.functions;
    if (Status set = rocblas_.check(call.set_stream(handle, stream), "rocblas_set_stream"); !set) return set;

    const GemmExtents& gemm = operands_.extents();
    const GemmOperands::OnDevice& data = operands_.on(device);
    const int type = gemm.dtype_ab == DataType::f32 ? kRocblasFloat32 : kRocblasBfloat16;
    const int m = static_cast<int>(gemm.m);
    const int n = static_cast<int>(gemm.n);
    const int k = static_cast<int>(gemm.k);
    const float one = 1;
    const float zero = 0;
    // rocBLAS is column major: row-major C = A B is its C^T = B^T A^T.
    return rocblas_.check(
        call.gemm_ex(handle, kRocblasNoTranspose, kRocblasNoTranspose, n, m, k, &one, data.b.get(), type, n, data.a.get(), type, k,
                     &zero, data.c.get(), type, n, data.c.get(), type, n, kRocblasFloat32, kRocblasGemmStandard, 0, 0),
        "rocblas_gemm_ex");
  }

  Status poison() override { return operands_.poison(); }
  Status verify() override { return operands_.verify(); }

 private:
  LibraryGemmKernel(RocblasLibrary rocblas, GemmOperands operands, Sms sms)
      : rocblas_(std::move(rocblas)), operands_(std::move(operands)), sms_(sms) {}

  Status add_device(const HipLibrary& hip, int device) {
    if (Status used = hip.use_device(device); !used) return used;
    RocblasHandle handle = nullptr;
    if (Status created = rocblas_.check(rocblas_.functions.create_handle(&handle), "rocblas_create_handle"); !created) {
      return created;
    }
    handles_.push_back(handle);
    return {};
  }

  RocblasLibrary rocblas_;
  GemmOperands operands_;
  Sms sms_;
  ComputeFacts facts_;
  std::vector<RocblasHandle> handles_;  ///< one for each device
};

}  // namespace

Result<std::unique_ptr<ComputeKernel>> make_library_gemm(DeviceCode& code, const LibraryGemm& gemm,
                                                         const std::vector<DeviceInfo>& devices, int gpus, std::uint64_t seed) {
  return LibraryGemmKernel::make(code, gemm, devices.front().limits.sms, gpus, seed);
}

}  // namespace elbowroom::hip
