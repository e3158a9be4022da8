#include <fmt/format.h>

#include <array>

#include "backend_cuda/checking.hpp"
#include "backend_cuda/compute_kernel.hpp"
#include "backend_cuda/elementwise_kernels.hpp"
#include "backend_cuda/gemm_operands.hpp"
#include "backend_cuda/library_gemm.hpp"
#include "backend_cuda/own_kernel.hpp"
#include "backend_cuda/tiled_gemm_kernels.hpp"

namespace elbowroom::cuda {
namespace {

GemmExtents extents_of(const TiledGemm& gemm) { return {gemm.m, gemm.n, gemm.k, gemm.dtype, DataType::f32}; }

class TiledGemmKernel final : public ComputeKernel {
 public:
  static Result<std::unique_ptr<ComputeKernel>> make(const TiledGemm& gemm, int gpus, std::uint64_t seed) {
    Result<TiledGemmVariant> variant = find_tiled_gemm(gemm);
    if (!variant) return variant.error();
    const GridShape grid = gemm.grid.value_or(GridShape{gemm.n / gemm.tile_n, gemm.m / gemm.tile_m});
    // A grid's y ends at 65,535; blocks loop over what is left.
    const dim3 shape(static_cast<unsigned>(grid.x), static_cast<unsigned>(std::min<std::int64_t>(grid.y, 65'535)));
    Result<OwnKernel> kernel = OwnKernel::make(variant->function, shape, variant->threads, gpus);
    if (!kernel) return kernel.error();
    Result<GemmOperands> operands = GemmOperands::make(extents_of(gemm), gpus, seed);
    if (!operands) return operands.error();
    return std::unique_ptr<ComputeKernel>(new TiledGemmKernel(std::move(*kernel), std::move(*operands)));
  }

  [[nodiscard]] const ComputeFacts& facts() const override { return kernel_.facts(); }
  [[nodiscard]] Status accepts(const OverlapPlan& plan) const override { return kernel_.accepts(plan); }
  Status poison() override { return operands_.poison(); }
  Status verify() override { return operands_.verify(); }

  Status launch(int device, cudaStream_t stream, const OverlapPlan& plan) override {
    const GemmOperands::OnDevice& here = operands_.on(device);
    const void* a = here.a.get();
    const void* b = here.b.get();
    void* c = here.c.get();
    int m = static_cast<int>(operands_.extents().m);
    int n = static_cast<int>(operands_.extents().n);
    int k = static_cast<int>(operands_.extents().k);
    std::array<void*, 6> arguments{static_cast<void*>(&a), static_cast<void*>(&b), static_cast<void*>(&c), &m, &n, &k};
    return kernel_.launch(stream, plan, arguments.data());
  }

 private:
  TiledGemmKernel(OwnKernel kernel, GemmOperands operands) : kernel_(std::move(kernel)), operands_(std::move(operands)) {}

  OwnKernel kernel_;
  GemmOperands operands_;
};

class ElementwiseKernel final : public ComputeKernel {
 public:
  static Result<std::unique_ptr<ComputeKernel>> make(const Elementwise& what, int gpus, std::uint64_t seed) {
    const ElementwiseVariant* found = nullptr;
    for (const ElementwiseVariant& variant : elementwise_variants()) {
      if (variant.op == what.op && variant.dtype == what.dtype) found = &variant;
    }
    if (found == nullptr) {
      return invalid_input(fmt::format("compute.op: no {} kernel for {}", to_string(what.op), to_string(what.dtype)));
    }
    const std::int64_t vectors = what.bytes / Bytes(16);
    const std::int64_t blocks = (vectors + found->threads.count() - 1) / found->threads.count();
    if (blocks > INT32_MAX) return invalid_input(fmt::format("compute.bytes: {}, expected at most 8 TiB", what.bytes.count()));
    Result<OwnKernel> kernel = OwnKernel::make(found->function, dim3(static_cast<unsigned>(blocks)), found->threads, gpus);
    if (!kernel) return kernel.error();

    std::unique_ptr<ElementwiseKernel> made(new ElementwiseKernel(std::move(*kernel), what));
    for (int device = 0; device < gpus; ++device) {
      if (Status added = made->add_device(device, seed); !added) return added.error();
    }
    if (Status poisoned = made->poison(); !poisoned) return poisoned.error();
    return std::unique_ptr<ComputeKernel>(std::move(made));
  }

  [[nodiscard]] const ComputeFacts& facts() const override { return kernel_.facts(); }
  [[nodiscard]] Status accepts(const OverlapPlan& plan) const override { return kernel_.accepts(plan); }

  Status launch(int device, cudaStream_t stream, const OverlapPlan& plan) override {
    const OnDevice& here = devices_[static_cast<std::size_t>(device)];
    const void* in = here.in.get();
    void* out = here.out.get();
    std::int64_t vectors = what_.bytes / Bytes(16);
    std::array<void*, 3> arguments{static_cast<void*>(&in), static_cast<void*>(&out), &vectors};
    return kernel_.launch(stream, plan, arguments.data());
  }

  Status poison() override {
    for (std::size_t device = 0; device < devices_.size(); ++device) {
      if (Status used = use_device(static_cast<int>(device)); !used) return used;
      if (Status done = cuda::poison(devices_[device].out.get(), what_.bytes, nullptr); !done) return done;
      if (Status idle = check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); !idle) return idle;
    }
    return {};
  }

  Status verify() override {
    const std::int64_t count = what_.bytes / size_of(what_.dtype);
    for (std::size_t device = 0; device < devices_.size(); ++device) {
      const OnDevice& here = devices_[device];
      const Status verified =
          run_check(static_cast<int>(device), fmt::format("{} result", to_string(what_.op)), "elements", count,
                    [&](Mismatches* out) { return check_elementwise(here.in.get(), here.out.get(), what_, out, nullptr); });
      if (!verified) return verified;
    }
    return {};
  }

 private:
  struct OnDevice {
    DeviceMemory in, out;
  };
  ElementwiseKernel(OwnKernel kernel, const Elementwise& what) : kernel_(std::move(kernel)), what_(what) {}

  Status add_device(int device, std::uint64_t seed) {
    if (Status used = use_device(device); !used) return used;
    OnDevice here;
    for (DeviceMemory* memory : {&here.in, &here.out}) {
      Result<DeviceMemory> allocated = allocate(what_.bytes);
      if (!allocated) {
        return Error{allocated.error().kind, fmt::format("compute.bytes on GPU {}: {}", device, allocated.error().message)};
      }
      *memory = std::move(*allocated);
    }
    if (Status filled = fill_uniform(here.in.get(), what_.bytes / size_of(what_.dtype), what_.dtype, seed, nullptr); !filled) {
      return filled;
    }
    devices_.push_back(std::move(here));
    return {};
  }

  OwnKernel kernel_;
  Elementwise what_;
  std::vector<OnDevice> devices_;
};

}  // namespace

Result<std::unique_ptr<ComputeKernel>> make_compute_kernel(const Compute& compute, const std::vector<DeviceInfo>& devices, int gpus,
                                                           std::uint64_t seed) {
  if (const auto* tiled = std::get_if<TiledGemm>(&compute)) return TiledGemmKernel::make(*tiled, gpus, seed);
  if (const auto* what = std::get_if<Elementwise>(&compute)) return ElementwiseKernel::make(*what, gpus, seed);
  const int sms = static_cast<int>(devices.front().limits.sms.count());
  return make_library_gemm(std::get<LibraryGemm>(compute), sms, gpus, seed);
}

}  // namespace elbowroom::cuda
