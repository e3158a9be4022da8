#include "backend_cuda/library_gemm.hpp"

#include <fmt/format.h>

#include <vector>

#include "backend_cuda/cublas_library.hpp"
#include "backend_cuda/handles.hpp"

namespace elbowroom::cuda {
namespace {

class LibraryGemmKernel final : public ComputeKernel {
 public:
  static Result<std::unique_ptr<ComputeKernel>> make(const LibraryGemm& gemm, int sms, int gpus, std::uint64_t seed) {
    Result<CublasLibrary> cublas = CublasLibrary::load();
    if (!cublas) return cublas.error();
    Result<GemmOperands> operands = GemmOperands::make(extents_of(gemm), gpus, seed);
    if (!operands) return operands.error();
    std::unique_ptr<LibraryGemmKernel> made(new LibraryGemmKernel(std::move(*cublas), std::move(*operands), sms));
    for (int device = 0; device < gpus; ++device) {
      if (Status added = made->add_device(device); !added) return added.error();
    }
    made->facts_.shape_refusal = "the library launches its own kernel, its shared memory is not ours to pad";
    return std::unique_ptr<ComputeKernel>(std::move(made));
  }

  ~LibraryGemmKernel() override {
    for (const OnDevice& here : devices_) {
      if (here.handle != nullptr) static_cast<void>(cublas_.functions.destroy(here.handle));
    }
  }

  [[nodiscard]] const ComputeFacts& facts() const override { return facts_; }

  [[nodiscard]] Status accepts(const OverlapPlan& plan) const override {
    if (plan.pad != Bytes(0))
      return invalid_input(fmt::format("pad_bytes: library_gemm cannot be shaped: {}", facts_.shape_refusal));
    if (plan.carveout) return invalid_input("carveout: acts on this project's kernels only, not on library_gemm");
    if (plan.sm_target && (*plan.sm_target < Sms(1) || *plan.sm_target > Sms(sms_))) {
      return invalid_input(fmt::format("sm_target: {}, expected 1 to {}", plan.sm_target->count(), sms_));
    }
    return {};
  }

  Status launch(int device, cudaStream_t stream, const OverlapPlan& plan) override {
    const OnDevice& here = devices_[static_cast<std::size_t>(device)];
    const CublasLibrary::Functions& call = cublas_.functions;
    if (Status set = CublasLibrary::check(call.set_stream(here.handle, stream), "cublasSetStream"); !set) return set;
    // Setting the stream drops the workspace that was given before.
    if (Status set = CublasLibrary::check(call.set_workspace(here.handle, here.workspace.get(), kWorkspace), "cublasSetWorkspace");
        !set) {
      return set;
    }
    const int target = plan.sm_target ? static_cast<int>(plan.sm_target->count()) : 0;
    if (Status set = CublasLibrary::check(call.set_sm_count_target(here.handle, target), "cublasSetSmCountTarget"); !set)
      return set;

    const GemmExtents& gemm = operands_.extents();
    const GemmOperands::OnDevice& data = operands_.on(device);
    const cudaDataType type = gemm.dtype_ab == DataType::f32 ? CUDA_R_32F : CUDA_R_16BF;
    const int m = static_cast<int>(gemm.m);
    const int n = static_cast<int>(gemm.n);
    const int k = static_cast<int>(gemm.k);
    const float one = 1;
    const float zero = 0;
    // cuBLAS is column major: row-major C = A B is its C^T = B^T A^T.
    return CublasLibrary::check(
        call.gemm_ex(here.handle, kCublasNoTranspose, kCublasNoTranspose, n, m, k, &one, data.b.get(), type, n, data.a.get(), type,
                     k, &zero, data.c.get(), type, n, kCublasCompute32F, kCublasGemmDefault),
        "cublasGemmEx");
  }

  Status poison() override { return operands_.poison(); }
  Status verify() override { return operands_.verify(); }

 private:
  // What cuBLAS recommends for Hopper; given explicitly so that no call allocates.
  static constexpr std::size_t kWorkspace = std::size_t{32} << 20;
  struct OnDevice {
    CublasHandle handle = nullptr;
    DeviceMemory workspace;
  };
  LibraryGemmKernel(CublasLibrary cublas, GemmOperands operands, int sms)
      : cublas_(std::move(cublas)), operands_(std::move(operands)), sms_(sms) {}

  Status add_device(int device) {
    if (Status used = use_device(device); !used) return used;
    Result<DeviceMemory> workspace = allocate(Bytes(static_cast<std::int64_t>(kWorkspace)));
    if (!workspace) return workspace.error();
    devices_.push_back({nullptr, std::move(*workspace)});
    return CublasLibrary::check(cublas_.functions.create(&devices_.back().handle), "cublasCreate");
  }

  CublasLibrary cublas_;
  GemmOperands operands_;
  int sms_;
  ComputeFacts facts_;
  std::vector<OnDevice> devices_;
};

}  // namespace

Result<std::unique_ptr<ComputeKernel>> make_library_gemm(const LibraryGemm& gemm, int sms, int gpus, std::uint64_t seed) {
  return LibraryGemmKernel::make(gemm, sms, gpus, seed);
}

}  // namespace elbowroom::cuda
