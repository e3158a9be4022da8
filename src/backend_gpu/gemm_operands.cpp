#include "backend_gpu/gemm_operands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "backend_gpu/data_kernels.hpp"

namespace elbowroom::gpu {
namespace {

/// Columns of C that one checksum covers. Few enough, where C is rounded to 16 bits, that one wrong element shows; see tolerance().
std::int64_t segment(const GemmExtents& gemm) {
  return gemm.dtype_c == DataType::f32 ? gemm.n : std::min<std::int64_t>(gemm.n, 1024);
}

/// How far a checksum may be off. Elements of C are sums of k products of values of variance 1/3, so their deviation is sqrt(k)/3.
/// Each carries a relative rounding error, and a segment of them adds with random signs. Six deviations never fail by chance. In
/// units of an element's deviation that is 6 * 2^-9 * sqrt(1024) = 0.4 for bf16, 0.05 for f16, and less than 0.1 for f32 up to
/// n = 250,000. An element that nobody wrote is NaN and always found; a wrong finite one shifts the checksum by about one
/// deviation. Products of e4m3 are exact in f32, and what Hopper's matrix units drop of their sums is less than bf16's rounding.
double tolerance(const GemmExtents& gemm) {
  const double element = std::sqrt(static_cast<double>(gemm.k)) / 3;
  const int bits = gemm.dtype_c == DataType::f32 ? 15 : gemm.dtype_c == DataType::f16 ? 12 : 9;
  const double rounding = std::ldexp(1.0, -bits);
  return 6 * element * rounding * std::sqrt(static_cast<double>(segment(gemm))) + 1e-3;
}

}  // namespace

Result<GemmOperands> GemmOperands::make(Platform& platform, const GemmExtents& extents, const std::vector<int>& devices,
                                        std::uint64_t seed) {
  GemmOperands operands(platform, extents, seed);
  for (const int device : devices) {
    if (Status added = operands.add_device(device); !added) { return added.error(); }
  }
  if (Status poisoned = operands.poison(); !poisoned) { return poisoned.error(); }
  return operands;
}

Status GemmOperands::add_device(int device) {
  if (Status used = platform_->runtime().use_device(device); !used) { return used; }
  OnDevice here;
  for (const auto& [memory, size] : {std::pair{&here.a, extents_.a()}, {&here.b, extents_.b()}, {&here.c, extents_.c()}}) {
    Result<Memory> allocated = allocate(platform_->runtime(), size);
    if (!allocated) {
      return Error{allocated.error().kind, fmt::format("compute.m, n, k on GPU {}: {}", device, allocated.error().message)};
    }
    *memory = std::move(*allocated);
  }
  for (const Status& filled :
       {fill_uniform(*platform_, device, here.a.get(), extents_.m * extents_.k, extents_.dtype_ab, 2 * seed_),
        fill_uniform(*platform_, device, here.b.get(), extents_.k * extents_.n, extents_.dtype_ab, 2 * seed_ + 1)}) {
    if (!filled) { return filled; }
  }
  devices_.emplace(device, std::move(here));
  return {};
}

Status GemmOperands::poison() const {
  for (const auto& [device, here] : devices_) {
    const Status done = gpu::poison(platform_->runtime(), device, here.c.get(), extents_.c());
    if (!done) { return done; }
  }
  return {};
}

Status GemmOperands::verify() const {
  for (const auto& one : devices_) {
    const int device = one.first;
    const OnDevice& here = one.second;
    if (Status used = platform_->runtime().use_device(device); !used) { return used; }
    Result<Memory> work =
        allocate(platform_->runtime(), Bytes((extents_.k + extents_.m) * static_cast<std::int64_t>(sizeof(double))));
    if (!work) { return work.error(); }
    const GemmCheck gemm{.a = here.a.get(),
                         .b = here.b.get(),
                         .c = here.c.get(),
                         .m = extents_.m,
                         .n = extents_.n,
                         .k = extents_.k,
                         .dtype_ab = extents_.dtype_ab,
                         .dtype_c = extents_.dtype_c,
                         .b_by_columns = extents_.b_by_columns,
                         .segment = segment(extents_),
                         .tolerance = tolerance(extents_),
                         .seed = seed_};
    const std::int64_t segments = extents_.m * ((extents_.n + segment(extents_) - 1) / segment(extents_));
    const Status verified =
        run_check(platform_->runtime(), device, "matrix product", "segments of rows", segments,
                  [&](Mismatches* out) { return check_gemm(*platform_, device, gemm, static_cast<double*>(work->get()), out); });
    if (!verified) { return verified; }
  }
  return {};
}

}  // namespace elbowroom::gpu
