#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "backend_gpu/platform.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/collective_facts.hpp"

// Input data and reference checks. What has a `device` makes it current and enqueues on its default stream; nothing waits unless it
// says so.
namespace elbowroom::gpu {

/// `count` values uniform in [-1, 1), rounded in e4m3 alone; the same for equal (seed, index) on every device.
Status fill_uniform(Platform& platform, int device, void* data, std::int64_t count, DataType dtype, std::uint64_t seed);

/// NaN in every element of any type, so that an element that nobody writes cannot pass a check. Waits.
Status poison(const Runtime& runtime, int device, void* data, Bytes size);

/// The device-side outcome of a check; must be zeroed before.
struct Mismatches {
  unsigned long long count = 0;
  unsigned long long first = ~0ull;  ///< least index that differs
};

/// Runs one enqueued check on `device`, waits for it and turns what it counted into a Status: "all_reduce result on GPU 1: 12 of
/// 4096 elements differ from the reference, the first at 7". `total` is how many `units` there are.
Status run_check(const Runtime& runtime, int device, std::string_view what, std::string_view units, std::int64_t total,
                 const std::function<Status(Mismatches*)>& enqueue);

/// Small whole numbers that depend on rank and index: sums over 8 ranks are exact in bf16, so the check is exact. `rank` is the
/// number in the collective.
Status fill_collective(Platform& platform, int device, int rank, void* data, std::int64_t count, DataType dtype,
                       std::uint64_t seed);
Status check_collective(Platform& platform, int device, const void* received, const RankData& expected, DataType dtype,
                        std::uint64_t seed, Mismatches* out);

/// out[i] == op(in[i]) for all elements, recomputed in f64.
Status check_elementwise(Platform& platform, int device, const void* in, const void* out_data, const Elementwise& what,
                         Mismatches* out);

/// Freivalds' check of C = A * B over all elements, one for each `segment` of columns. For a random vector x of +-1 there and 0
/// elsewhere, row i of C x must equal A (B x) within `tolerance`. Reads A once for each segment. `work` needs k + m doubles. A
/// mismatch's index is its segment times m plus the row of C.
struct GemmCheck {
  const void* a = nullptr;
  const void* b = nullptr;
  const void* c = nullptr;
  std::int64_t m = 0, n = 0, k = 0;
  DataType dtype_ab = DataType::f32;
  DataType dtype_c = DataType::f32;
  bool b_by_columns = false;
  std::int64_t segment = 0;
  double tolerance = 0;
  std::uint64_t seed = 0;
};
Status check_gemm(Platform& platform, int device, const GemmCheck& gemm, double* work, Mismatches* out);

}  // namespace elbowroom::gpu
