#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "backend_gpu/compute_kernel.hpp"
#include "backend_gpu/data_kernels.hpp"
#include "backend_gpu/gemm_operands.hpp"
#include "backend_gpu/library_gemm.hpp"
#include "backend_gpu/module_kernel.hpp"
#include "backend_gpu/own_kernel.hpp"
#include "backend_gpu/tiled_gemm_variants.hpp"

namespace elbowroom::gpu {
namespace {

constexpr Threads kElementwiseThreads(256);
constexpr Threads kGreatestTiledThreads(256);

class TiledGemmKernel final : public ComputeKernel {
 public:
  static Result<std::unique_ptr<ComputeKernel>> make(Platform& platform, const TiledGemm& gemm, const std::vector<int>& devices,
                                                     std::uint64_t seed) {
    const Result<TiledGemmVariant> variant = find_tiled_gemm(gemm);
    if (!variant) { return variant.error(); }
    const GridShape grid = gemm.grid.value_or(GridShape{gemm.n / gemm.tile_n, gemm.m / gemm.tile_m});
    // Blocks loop over what the grid leaves.
    const Extent shape{static_cast<std::uint32_t>(std::min(grid.x, platform.most_blocks(kGreatestTiledThreads))),
                       static_cast<std::uint32_t>(std::min<std::int64_t>(grid.y, 65'535))};
    Result<OwnKernel> kernel = OwnKernel::make(platform, variant->kernel(), shape, devices);
    if (!kernel) { return kernel.error(); }
    const GemmExtents extents{gemm.m, gemm.n, gemm.k, gemm.dtype, DataType::f32};
    Result<GemmOperands> operands = GemmOperands::make(platform, extents, devices, seed);
    if (!operands) { return operands.error(); }
    return std::unique_ptr<ComputeKernel>(new TiledGemmKernel(std::move(*kernel), std::move(*operands)));
  }

  [[nodiscard]] const ComputeFacts& facts() const override { return kernel_.facts(); }
  Status poison() override { return operands_.poison(); }
  Status verify() override { return operands_.verify(); }

  Status launch(int device, StreamHandle stream, const ComputeSettings& settings) override {
    const GemmOperands::OnDevice& here = operands_.on(device);
    void* a = here.a.get();
    void* b = here.b.get();
    void* c = here.c.get();
    int m = static_cast<int>(operands_.extents().m);
    int n = static_cast<int>(operands_.extents().n);
    int k = static_cast<int>(operands_.extents().k);
    return kernel_.launch(device, stream, settings, pointers_to(a, b, c, m, n, k));
  }

 private:
  TiledGemmKernel(OwnKernel kernel, GemmOperands operands) : kernel_(std::move(kernel)), operands_(std::move(operands)) {}

  OwnKernel kernel_;
  GemmOperands operands_;
};

class ElementwiseKernel final : public ComputeKernel {
 public:
  static Result<std::unique_ptr<ComputeKernel>> make(Platform& platform, const Elementwise& what, const std::vector<int>& devices,
                                                     std::uint64_t seed) {
    const std::int64_t vectors = what.bytes / Bytes(16);
    const std::int64_t blocks = (vectors + kElementwiseThreads.count() - 1) / kElementwiseThreads.count();
    const std::int64_t most = platform.most_blocks(kElementwiseThreads);
    if (blocks > most) {
      return invalid_input(
          fmt::format("compute.bytes: {}, expected at most {}", what.bytes.count(), most * kElementwiseThreads.count() * 16));
    }
    const std::string name = fmt::format("elementwise_{}_{}", to_string(what.op), to_string(what.dtype));
    Result<OwnKernel> kernel = OwnKernel::make(platform, name, Extent{static_cast<std::uint32_t>(blocks)}, devices);
    if (!kernel) { return kernel.error(); }

    std::unique_ptr<ElementwiseKernel> made(new ElementwiseKernel(platform, std::move(*kernel), what));
    for (const int device : devices) {
      if (Status added = made->add_device(device, seed); !added) { return added.error(); }
    }
    if (Status poisoned = made->poison(); !poisoned) { return poisoned.error(); }
    return std::unique_ptr<ComputeKernel>(std::move(made));
  }

  [[nodiscard]] const ComputeFacts& facts() const override { return kernel_.facts(); }

  Status launch(int device, StreamHandle stream, const ComputeSettings& settings) override {
    const OnDevice& here = devices_.at(device);
    void* in = here.in.get();
    void* out = here.out.get();
    std::int64_t vectors = what_.bytes / Bytes(16);
    return kernel_.launch(device, stream, settings, pointers_to(in, out, vectors));
  }

  Status poison() override {
    for (const auto& [device, here] : devices_) {
      const Status done = gpu::poison(platform_.runtime(), device, here.out.get(), what_.bytes);
      if (!done) { return done; }
    }
    return {};
  }

  Status verify() override {
    const std::int64_t count = what_.bytes / size_of(what_.dtype);
    for (const auto& one : devices_) {
      const int device = one.first;
      const OnDevice& here = one.second;
      const Status verified = run_check(
          platform_.runtime(), device, fmt::format("{} result", to_string(what_.op)), "elements", count,
          [&](Mismatches* out) { return check_elementwise(platform_, device, here.in.get(), here.out.get(), what_, out); });
      if (!verified) { return verified; }
    }
    return {};
  }

 private:
  struct OnDevice {
    Memory in, out;
  };
  ElementwiseKernel(Platform& platform, OwnKernel kernel, const Elementwise& what)
      : platform_(platform), kernel_(std::move(kernel)), what_(what) {}

  Status add_device(int device, std::uint64_t seed) {
    if (Status used = platform_.runtime().use_device(device); !used) { return used; }
    OnDevice here;
    for (Memory* memory : {&here.in, &here.out}) {
      Result<Memory> allocated = allocate(platform_.runtime(), what_.bytes);
      if (!allocated) {
        return Error{allocated.error().kind, fmt::format("compute.bytes on GPU {}: {}", device, allocated.error().message)};
      }
      *memory = std::move(*allocated);
    }
    const std::int64_t count = what_.bytes / size_of(what_.dtype);
    if (Status filled = fill_uniform(platform_, device, here.in.get(), count, what_.dtype, seed); !filled) { return filled; }
    devices_.emplace(device, std::move(here));
    return {};
  }

  Platform& platform_;
  OwnKernel kernel_;
  Elementwise what_;
  std::map<int, OnDevice> devices_;  ///< by number
};

}  // namespace

Result<std::unique_ptr<ComputeKernel>> make_compute_kernel(Platform& platform, const Compute& compute,
                                                           const std::vector<int>& devices, std::uint64_t seed) {
  if (const auto* tiled = std::get_if<TiledGemm>(&compute)) { return TiledGemmKernel::make(platform, *tiled, devices, seed); }
  if (const auto* what = std::get_if<Elementwise>(&compute)) { return ElementwiseKernel::make(platform, *what, devices, seed); }
  if (const auto* module = std::get_if<ModuleKernel>(&compute)) { return make_module_kernel(platform, *module, devices, seed); }
  if (std::holds_alternative<FootprintKernel>(compute)) {
    return invalid_input(fmt::format(
        "compute.kernel: footprint, expected one that {} can launch (the simulator takes it by its numbers)", platform.title()));
  }
  return make_library_gemm(platform, std::get<LibraryGemm>(compute), devices, seed);
}

}  // namespace elbowroom::gpu
