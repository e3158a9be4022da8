// Measures the rows that the simulator is fitted to and validated with (data/README.md has the columns): for each case the
// isolated times at every residency, then every schedule. Writes CSV to standard output, progress to standard error.
//   usage: measure_rows [REGEX]      only the cases in whose name REGEX is found
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "elbowroom/backend/registry.hpp"
#include "elbowroom/experiment/case_trials.hpp"
#include "elbowroom/plan/compute_facts.hpp"
#include "elbowroom/plan/occupancy.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "elbowroom/plan/pad_ranges.hpp"
#include "elbowroom/plan/program.hpp"

namespace elbowroom {
namespace {

constexpr int kWarmUps = 2;
constexpr int kTrials = 5;

struct RowCase {
  std::string kernel;  ///< as the column has it
  std::int64_t n;
  Scenario scenario;
};

Scenario scenario(std::string name, int gpus, int iterations, Pattern pattern, Compute compute, CollectiveOp op, std::int64_t mib,
                  std::optional<Blocks> comm_blocks) {
  return {std::move(name), gpus, iterations, pattern, std::move(compute), {op, mebibytes(mib), DataType::bf16, comm_blocks, {}}};
}

RowCase gemm(int gpus, DataType dtype, std::int64_t tile, std::int64_t tile_k, std::int64_t n, int iterations,
             std::optional<GridShape> grid = {}, Pattern pattern = Pattern::pipeline, std::int64_t mib = 512) {
  const std::string kernel = fmt::format("tiled_{}_{}x{}x{}", to_string(dtype), tile, tile, tile_k);
  const std::string name = fmt::format("{}-{}-{}", kernel, n, grid ? fmt::format("{}x{}", grid->x, grid->y) : "full");
  return {kernel, n,
          scenario(name, gpus, iterations, pattern, TiledGemm{n, n, n, tile, tile, tile_k, grid, dtype}, CollectiveOp::all_reduce,
                   mib, {})};
}

RowCase gelu(int gpus, std::int64_t mib, std::optional<Blocks> comm_blocks) {
  const std::string name = fmt::format("gelu-{}m-{}b", mib, comm_blocks ? comm_blocks->count() : 0);
  return {"gelu", mib,
          scenario(name, gpus, 8, Pattern::pipeline, Elementwise{ElementwiseOp::gelu, DataType::f32, mebibytes(mib)},
                   CollectiveOp::all_reduce, 512, comm_blocks)};
}

std::vector<RowCase> cases(int gpus) {
  std::vector<RowCase> all;
  for (const std::int64_t tile_k : {8, 32, 64}) { all.push_back(gemm(gpus, DataType::f32, 64, tile_k, 4096, 8)); }
  all.push_back(gemm(gpus, DataType::f32, 128, 16, 4096, 8));
  for (const std::int64_t tile_k : {32, 64}) {
    all.push_back(gemm(gpus, DataType::bf16, 64, tile_k, 4096, 8));
    all.push_back(gemm(gpus, DataType::bf16, 128, tile_k, 4096, 8));
  }
  for (const std::int64_t side : {8, 16, 32, 64}) {
    all.push_back(gemm(gpus, DataType::bf16, 64, 32, 8192, 3, GridShape{side, side}));
  }
  all.push_back(gemm(gpus, DataType::f32, 128, 8, 2048, 1, {}, Pattern::pair, 64));
  all.push_back(gemm(gpus, DataType::f32, 64, 16, 3072, 1, {}, Pattern::pair, 512));
  for (const std::int64_t mib : {1024, 2048}) {
    all.push_back(gelu(gpus, mib, {}));
    all.push_back(gelu(gpus, mib, Blocks(8)));
  }
  all.push_back({"cublas", 8192,
                 scenario("cublas-8192", gpus, 8, Pattern::pipeline, LibraryGemm{8192, 8192, 8192, DataType::bf16},
                          CollectiveOp::all_reduce, 512, {})});
  return all;
}

/// One schedule under one plan, and its row's last columns.
struct Row {
  std::string scheme;
  Order order;
  OverlapPlan plan;
  std::int64_t blocks_per_sm;
  std::vector<Microseconds> times;
};

std::vector<Row> rows_of(const RowCase& row_case, const std::vector<PadRange>& ranges) {
  OverlapPlan plan;
  plan.comm_blocks = row_case.scenario.collective.comm_blocks;
  const std::int64_t unshaped = ranges.empty() ? 0 : ranges.front().blocks_per_sm.count();
  std::vector<Row> rows{{"comm_only", Order::comm_only, plan, unshaped, {}}, {"sequential", Order::sequential, plan, unshaped, {}}};
  const auto add = [&](std::int64_t residency) {
    plan.priority = false;
    rows.push_back({"compute_only", Order::compute_only, plan, residency, {}});
    for (const bool priority : {false, true}) {
      plan.priority = priority;
      rows.push_back({"concurrent", Order::concurrent, plan, residency, {}});
    }
  };
  if (ranges.empty()) { add(0); }
  for (const PadRange& range : ranges) {
    plan.pad = range.pad_min;
    add(range.blocks_per_sm.count());
  }
  return rows;
}

Status measure(Backend& backend, const RowCase& row_case) {
  Result<CaseTrials> workload = CaseTrials::prepare(backend, row_case.scenario);
  if (!workload) { return workload.error(); }
  const ComputeFacts& facts = workload->compute();
  std::vector<PadRange> ranges;
  if (facts.footprint) {
    Result<std::vector<PadRange>> found = pad_ranges(backend.devices().front().limits, *facts.footprint);
    if (!found) { return found.error(); }
    ranges = std::move(*found);
  }
  std::vector<Row> rows = rows_of(row_case, ranges);
  for (int round = 0; round < kWarmUps + kTrials; ++round) {
    for (Row& row : rows) {
      const Result<Microseconds> time = workload->run(row.order, row.plan);
      if (!time) { return time.error(); }
      if (round >= kWarmUps) { row.times.push_back(*time); }
    }
  }
  const KernelFootprint footprint = facts.footprint.value_or(KernelFootprint{});
  const Scenario& what = row_case.scenario;
  for (Row& row : rows) {
    std::ranges::nth_element(row.times, row.times.begin() + kTrials / 2);
    fmt::print("{},{},{},{},{},{},{},{},{},{},{},{},{},{},default,{},{},{},{},{:.3f}\n", row_case.kernel, row_case.n,
               facts.blocks.value_or(Blocks(0)).count(), footprint.threads.count(), footprint.registers_per_thread.count(),
               footprint.static_shared.count(), ranges.empty() ? 0 : ranges.front().blocks_per_sm.count(),
               to_string(what.collective.op), what.collective.bytes / mebibytes(1), what.gpus, what.iterations,
               to_string(what.pattern), row.plan.comm_blocks.value_or(Blocks(0)).count(), -1, row.scheme, row.plan.priority ? 1 : 0,
               row.blocks_per_sm, row.plan.pad.count(), row.times[kTrials / 2].count() / 1000);
  }
  std::fflush(stdout);
  return {};
}

int run(const std::string& pattern) {
  Result<std::unique_ptr<Backend>> backend = open_backend("cuda", {});
  if (!backend) {
    fmt::print(stderr, "measure_rows: {}\n", backend.error().message);
    return 77;
  }
  fmt::print(
      "kernel,n,grid_blocks,block_threads,registers,static_shared_bytes,blocks_per_sm_unshaped,collective,collective_MiB,gpus,"
      "iterations,pattern,comm_blocks,cluster,nccl_nthreads,scheme,priority,blocks_per_sm,dynamic_shared_bytes,time_ms\n");
  const std::regex wanted(pattern);
  for (const RowCase& row_case : cases(static_cast<int>((*backend)->devices().size()))) {
    if (!std::regex_search(row_case.scenario.name, wanted)) { continue; }
    fmt::print(stderr, "{}\n", row_case.scenario.name);
    if (Status measured = measure(**backend, row_case); !measured) {
      fmt::print(stderr, "measure_rows: {}: {}\n", row_case.scenario.name, measured.error().message);
      return 1;
    }
  }
  return 0;
}

}  // namespace
}  // namespace elbowroom

int main(int argc, char** argv) {
  try {
    return elbowroom::run(argc > 1 ? argv[1] : ".");
  } catch (const std::exception& error) {
    fmt::print(stderr, "measure_rows: {}\n", error.what());
    return 2;
  }
}
