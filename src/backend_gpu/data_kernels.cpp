#include "backend_gpu/data_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "backend_gpu/handles.hpp"
#include "backend_gpu/own_kernel.hpp"

namespace elbowroom::gpu {
namespace {

constexpr Threads kThreads(256);
// Fills the devices of the catalog; every kernel here strides over its data.
constexpr std::int64_t kMostBlocks = std::int64_t{304} * 8;

// The kernels take these as plain numbers: what compiles them does not read our headers.
static_assert(static_cast<int>(ElementwiseOp::gelu) == 0 && static_cast<int>(ElementwiseOp::relu) == 1 &&
              static_cast<int>(ElementwiseOp::copy) == 2);
static_assert(sizeof(Mismatches) == 16);

/// Enqueues `kernel`, in the variant for `dtype`, on the device's default stream with enough blocks for `units` of work.
template <class... Arguments>
Status run(Platform& platform, int device, const char* kernel, DataType dtype, std::int64_t units, Arguments... arguments) {
  const Result<OwnFunction> own = platform.function(fmt::format("{}_{}", kernel, to_string(dtype)), device);
  if (!own) { return own.error(); }
  const Extent grid{static_cast<std::uint32_t>(std::clamp<std::int64_t>(units, 1, kMostBlocks))};
  return launch(platform.runtime(), *own, grid, Bytes(0), nullptr, pointers_to(arguments...), kernel);
}

std::int64_t blocks_for(std::int64_t elements) { return (elements + kThreads.count() - 1) / kThreads.count(); }

}  // namespace

Status fill_uniform(Platform& platform, int device, void* data, std::int64_t count, DataType dtype, std::uint64_t seed) {
  return run(platform, device, "fill_uniform", dtype, blocks_for(count), data, count, seed);
}

Status poison(const Runtime& runtime, int device, void* data, Bytes size) {
  if (Status used = runtime.use_device(device); !used) { return used; }
  const auto bytes = static_cast<std::size_t>(size.count());
  if (Status set = runtime.call(runtime.calls.memset_async, data, 0xFF, bytes, nullptr); !set) { return set; }
  return runtime.call(runtime.calls.device_synchronize);
}

Status run_check(const Runtime& runtime, int device, std::string_view what, std::string_view units, std::int64_t total,
                 const std::function<Status(Mismatches*)>& enqueue) {
  if (Status used = runtime.use_device(device); !used) { return used; }
  Result<Memory> counters = allocate(runtime, Bytes(sizeof(Mismatches)));
  if (!counters) { return counters.error(); }
  auto* const on_device = static_cast<Mismatches*>(counters->get());
  Mismatches seen;
  const auto copy = [&](void* to, const void* from, int kind) {
    return runtime.call(runtime.calls.memcpy, to, from, sizeof seen, kind);
  };
  if (Status zeroed = copy(on_device, &seen, kHostToDevice); !zeroed) { return zeroed; }
  if (Status enqueued = enqueue(on_device); !enqueued) { return enqueued; }
  if (Status copied = copy(&seen, on_device, kDeviceToHost); !copied) { return copied; }
  if (seen.count == 0) { return {}; }
  return failed(fmt::format("{} on GPU {}: {} of {} {} differ from the reference, the first at {}", what, device, seen.count, total,
                            units, seen.first));
}

Status fill_collective(Platform& platform, int device, int rank, void* data, std::int64_t count, DataType dtype,
                       std::uint64_t seed) {
  return run(platform, device, "fill_collective", dtype, blocks_for(count), data, count, rank, seed);
}

Status check_collective(Platform& platform, int device, const void* received, const RankData& expected, DataType dtype,
                        std::uint64_t seed, Mismatches* out) {
  return run(platform, device, "check_collective", dtype, blocks_for(expected.received), received, expected.sums ? 1 : 0,
             expected.first_sender, expected.senders, expected.offset, expected.received, seed, out);
}

Status check_elementwise(Platform& platform, int device, const void* in, const void* out_data, const Elementwise& what,
                         Mismatches* out) {
  const std::int64_t count = what.bytes / size_of(what.dtype);
  return run(platform, device, "check_elementwise", what.dtype, blocks_for(count), in, out_data, count, static_cast<int>(what.op),
             out);
}

Status check_gemm(Platform& platform, int device, const GemmCheck& gemm, double* work, Mismatches* out) {
  double* const bx = work;
  double* const abx = work + gemm.k;
  struct Strides {
    std::int64_t row, column;
  };
  const auto times = [&](const void* matrix, std::int64_t rows, std::int64_t first, std::int64_t last, Strides strides,
                         const double* x, double* y) {
    return run(platform, device, "matrix_times_vector", gemm.dtype_ab, rows, matrix, rows, first, last, strides.row, strides.column,
               x, gemm.seed, y);
  };
  const Strides of_b = gemm.b_by_columns ? Strides{1, gemm.k} : Strides{gemm.n, 1};
  for (std::int64_t first = 0; first < gemm.n; first += gemm.segment) {
    const std::int64_t last = std::min(first + gemm.segment, gemm.n);
    if (Status done = times(gemm.b, gemm.k, first, last, of_b, nullptr, bx); !done) { return done; }
    if (Status done = times(gemm.a, gemm.m, 0, gemm.k, {gemm.k, 1}, bx, abx); !done) { return done; }
    const std::int64_t first_index = first / gemm.segment * gemm.m;
    if (Status done = run(platform, device, "compare_rows", gemm.dtype_c, gemm.m, gemm.c, gemm.m, first, last, gemm.n, abx,
                          gemm.tolerance, gemm.seed, first_index, out);
        !done) {
      return done;
    }
  }
  return {};
}

}  // namespace elbowroom::gpu
