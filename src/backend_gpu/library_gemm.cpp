#include "backend_gpu/library_gemm.hpp"

#include <utility>
#include <vector>

#include "backend_gpu/gemm_operands.hpp"
#include "elbowroom/plan/compute_facts.hpp"
#include "elbowroom/plan/launch_check.hpp"
#include "elbowroom/plan/launch_settings.hpp"

namespace elbowroom::gpu {
namespace {

class LibraryGemmKernel final : public ComputeKernel {
 public:
  static Result<std::unique_ptr<ComputeKernel>> make(Platform& platform, const LibraryGemm& gemm, const std::vector<int>& devices,
                                                     std::uint64_t seed) {
    Result<std::unique_ptr<BlasLibrary>> blas = platform.blas();
    if (!blas) { return blas.error(); }
    const GemmExtents extents{gemm.m, gemm.n, gemm.k, gemm.dtype, gemm.result(), gemm.dtype == DataType::e4m3};
    std::unique_ptr<LibraryGemmKernel> made(new LibraryGemmKernel(std::move(*blas), extents));
    for (const int device : devices) {
      if (Status added = made->add_device(platform.runtime(), device); !added) { return added.error(); }
    }
    Result<GemmOperands> operands = GemmOperands::make(platform, extents, devices, seed);
    if (!operands) { return operands.error(); }
    made->operands_ = std::make_unique<GemmOperands>(std::move(*operands));
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
    const int sm_target = settings.sm_target ? static_cast<int>(settings.sm_target->count()) : 0;
    const BlasLaunch launch = launch_on(device, stream, sm_target);
    if (Status set = prepare(launch); !set) { return set; }
    Product product = product_;
    const GemmOperands::OnDevice& data = operands_->on(device);
    product.a = data.a.get();
    product.b = data.b.get();
    product.c = data.c.get();
    return blas_->multiply(launch, product);
  }

  Status poison() override { return operands_->poison(); }
  Status verify() override { return operands_->verify(); }

 private:
  // What cuBLAS recommends for Hopper; given explicitly so that no call allocates.
  static constexpr Bytes kWorkspace = mebibytes(32);
  struct OnDevice {
    BlasHandle handle = nullptr;
    Memory workspace;  ///< null where the library has its own
  };
  LibraryGemmKernel(std::unique_ptr<BlasLibrary> blas, const GemmExtents& gemm)
      : blas_(std::move(blas)),
        product_{
            .m = static_cast<int>(gemm.m), .n = static_cast<int>(gemm.n), .k = static_cast<int>(gemm.k), .dtype = gemm.dtype_ab} {}

  Status add_device(const Runtime& runtime, int device) {
    if (Status used = runtime.use_device(device); !used) { return used; }
    OnDevice& here = devices_[device];
    if (blas_->calls.set_workspace) {
      Result<Memory> workspace = allocate(runtime, kWorkspace);
      if (!workspace) { return workspace.error(); }
      here.workspace = std::move(*workspace);
    }
    if (Status created = blas_->call(blas_->calls.create, &here.handle); !created) { return created; }
    return blas_->accepts(launch_on(device, nullptr, 0), product_);
  }

  [[nodiscard]] BlasLaunch launch_on(int device, StreamHandle stream, int sm_target) const {
    const OnDevice& here = devices_.at(device);
    const std::size_t bytes = here.workspace ? static_cast<std::size_t>(kWorkspace.count()) : 0;
    return {here.handle, stream, here.workspace.get(), bytes, sm_target};
  }

  [[nodiscard]] Status prepare(const BlasLaunch& launch) const {
    const BlasCalls& calls = blas_->calls;
    if (Status set = blas_->call(calls.set_stream, launch.handle, launch.stream); !set) { return set; }
    // Setting the stream drops the workspace that was given before.
    if (calls.set_workspace) {
      const Status set = blas_->call(calls.set_workspace, launch.handle, launch.workspace, launch.workspace_bytes);
      if (!set) { return set; }
    }
    return calls.set_sm_count_target ? blas_->call(calls.set_sm_count_target, launch.handle, launch.sm_target) : Status();
  }

  std::unique_ptr<BlasLibrary> blas_;
  Product product_;                         ///< without its operands
  std::unique_ptr<GemmOperands> operands_;  ///< once the library has taken the product on every device
  ComputeFacts facts_;
  std::map<int, OnDevice> devices_;  ///< by number
};

}  // namespace

Result<std::unique_ptr<ComputeKernel>> make_library_gemm(Platform& platform, const LibraryGemm& gemm,
                                                         const std::vector<int>& devices, std::uint64_t seed) {
  return LibraryGemmKernel::make(platform, gemm, devices, seed);
}

}  // namespace elbowroom::gpu
