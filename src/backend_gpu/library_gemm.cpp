#include "backend_gpu/library_gemm.hpp"

#include <utility>
#include <vector>

#include "backend_gpu/gemm_operands.hpp"
#include "elbowroom/plan/launch_check.hpp"

namespace elbowroom::gpu {
namespace {

class LibraryGemmKernel final : public ComputeKernel {
 public:
  static Result<std::unique_ptr<ComputeKernel>> make(Platform& platform, const LibraryGemm& gemm, const std::vector<int>& devices,
                                                     std::uint64_t seed) {
    Result<std::unique_ptr<BlasLibrary>> blas = platform.blas();
    if (!blas) { return blas.error(); }
    const GemmExtents extents{gemm.m, gemm.n, gemm.k, gemm.dtype, gemm.dtype};
    Result<GemmOperands> operands = GemmOperands::make(platform, extents, devices, seed);
    if (!operands) { return operands.error(); }
    std::unique_ptr<LibraryGemmKernel> made(new LibraryGemmKernel(std::move(*blas), std::move(*operands)));
    for (const int device : devices) {
      if (Status added = made->add_device(platform.runtime(), device); !added) { return added.error(); }
    }
    made->facts_.shape_refusal = kLibraryKernel;
    return std::unique_ptr<ComputeKernel>(std::move(made));
  }

  ~LibraryGemmKernel() override {
    for (const auto& [device, here] : devices_) {
      if (here.handle != nullptr) { static_cast<void>(blas_->calls.destroy.function(here.handle)); }
    }
  }

  [[nodiscard]] const ComputeFacts& facts() const override { return facts_; }

  Status launch(int device, StreamHandle stream, const ComputeSettings& settings) override {
    const OnDevice& here = devices_.at(device);
    if (Status set = prepare(here, stream, settings); !set) { return set; }
    const GemmExtents& gemm = operands_.extents();
    const GemmOperands::OnDevice& data = operands_.on(device);
    return blas_->multiply(here.handle, {.m = static_cast<int>(gemm.m),
                                         .n = static_cast<int>(gemm.n),
                                         .k = static_cast<int>(gemm.k),
                                         .dtype = gemm.dtype_ab,
                                         .a = data.a.get(),
                                         .b = data.b.get(),
                                         .c = data.c.get()});
  }

  Status poison() override { return operands_.poison(); }
  Status verify() override { return operands_.verify(); }

 private:
  // What cuBLAS recommends for Hopper; given explicitly so that no call allocates.
  static constexpr Bytes kWorkspace = mebibytes(32);
  struct OnDevice {
    BlasHandle handle = nullptr;
    Memory workspace;  ///< null where the library has its own
  };
  LibraryGemmKernel(std::unique_ptr<BlasLibrary> blas, GemmOperands operands)
      : blas_(std::move(blas)), operands_(std::move(operands)) {}

  Status add_device(const Runtime& runtime, int device) {
    if (Status used = runtime.use_device(device); !used) { return used; }
    OnDevice& here = devices_[device];
    if (blas_->calls.set_workspace) {
      Result<Memory> workspace = allocate(runtime, kWorkspace);
      if (!workspace) { return workspace.error(); }
      here.workspace = std::move(*workspace);
    }
    return blas_->call(blas_->calls.create, &here.handle);
  }

  Status prepare(const OnDevice& here, StreamHandle stream, const ComputeSettings& settings) const {
    const BlasCalls& calls = blas_->calls;
    if (Status set = blas_->call(calls.set_stream, here.handle, stream); !set) { return set; }
    // Setting the stream drops the workspace that was given before.
    if (calls.set_workspace) {
      const auto bytes = static_cast<std::size_t>(kWorkspace.count());
      if (Status set = blas_->call(calls.set_workspace, here.handle, here.workspace.get(), bytes); !set) { return set; }
    }
    if (!calls.set_sm_count_target) { return {}; }
    return blas_->call(calls.set_sm_count_target, here.handle,
                       settings.sm_target ? static_cast<int>(settings.sm_target->count()) : 0);
  }

  std::unique_ptr<BlasLibrary> blas_;
  GemmOperands operands_;
  ComputeFacts facts_;
  std::map<int, OnDevice> devices_;  ///< by number
};

}  // namespace

Result<std::unique_ptr<ComputeKernel>> make_library_gemm(Platform& platform, const LibraryGemm& gemm,
                                                         const std::vector<int>& devices, std::uint64_t seed) {
  return LibraryGemmKernel::make(platform, gemm, devices, seed);
}

}  // namespace elbowroom::gpu
