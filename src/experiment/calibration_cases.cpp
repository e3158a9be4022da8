#include "experiment/calibration_cases.hpp"

#include <utility>

#include "elbowroom/plan/program.hpp"

namespace elbowroom::detail {
namespace {

constexpr int kIterations = 4;

Compute gelu(std::int64_t mib) { return Elementwise{ElementwiseOp::gelu, DataType::f32, mebibytes(mib)}; }
Compute tiled(std::int64_t size, int tile, int tile_k, DataType dtype) {
  return TiledGemm{size, size, size, tile, tile, tile_k, std::nullopt, dtype};
}
Compute library(std::int64_t m, std::int64_t n, std::int64_t k) { return LibraryGemm{m, n, k, DataType::bf16}; }

}  // namespace

std::vector<CalibrationSchedule> calibration_schedules() {
  return {{"computation alone", Order::compute_only, ""},
          {"computation alone, 1 block per SM", Order::compute_only, "blocks_per_sm=1"},
          {"collective alone", Order::comm_only, ""},
          {"both", Order::concurrent, ""},
          {"both, priority", Order::concurrent, "priority"},
          {"both, priority, 2 blocks per SM", Order::concurrent, "blocks_per_sm=2,priority"}};
}

std::vector<Scenario> calibration_cases(int gpus) {
  using enum CollectiveOp;
  constexpr DataType f32 = DataType::f32;
  constexpr DataType bf16 = DataType::bf16;
  std::vector<Scenario> cases;
  const auto add = [&](const char* name, Compute compute, CollectiveOp op, std::int64_t mib, std::int64_t blocks) {
    cases.push_back(
        {name, gpus, kIterations, Pattern::pipeline, std::move(compute), {op, mebibytes(mib), bf16, Blocks(blocks), std::nullopt}});
  };
  add("gelu-256-ar-64-2b", gelu(256), all_reduce, 64, 2);
  add("gelu-512-ar-256-8b", gelu(512), all_reduce, 256, 8);
  add("gelu-1024-ar-512-24b", gelu(1024), all_reduce, 512, 24);
  add("gelu-512-ag-256-16b", gelu(512), all_gather, 256, 16);
  add("gelu-64-ar-8-4b", gelu(64), all_reduce, 8, 4);
  add("gelu-256-rs-128-8b", gelu(256), reduce_scatter, 128, 8);
  add("gelu-256-ag-256-8b", gelu(256), all_gather, 256, 8);
  add("gelu-256-a2a-128-16b", gelu(256), all_to_all, 128, 16);
  add("gelu-bf16-256-ar-128-16b", Elementwise{ElementwiseOp::gelu, bf16, mebibytes(256)}, all_reduce, 128, 16);
  add("copy-256-rs-128-4b", Elementwise{ElementwiseOp::copy, f32, mebibytes(256)}, reduce_scatter, 128, 4);
  add("sgemm64-ar-128-8b", tiled(3072, 64, 16, f32), all_reduce, 128, 8);
  add("sgemm64-rs-256-16b", tiled(3072, 64, 32, f32), reduce_scatter, 256, 16);
  add("sgemm64-ag-64-4b", tiled(2048, 64, 64, f32), all_gather, 64, 4);
  add("sgemm64-ar-512-24b", tiled(4096, 64, 8, f32), all_reduce, 512, 24);
  add("sgemm128-ar-256-16b", tiled(4096, 128, 16, f32), all_reduce, 256, 16);
  add("sgemm128-ag-128-8b", tiled(3072, 128, 16, f32), all_gather, 128, 8);
  add("hgemm64-ar-128-24b", tiled(4096, 64, 64, bf16), all_reduce, 128, 24);
  add("hgemm64-ag-256-8b", tiled(4096, 64, 32, bf16), all_gather, 256, 8);
  add("hgemm64-rs-64-4b", tiled(3072, 64, 64, bf16), reduce_scatter, 64, 4);
  add("hgemm64-a2a-128-16b", tiled(4096, 64, 64, bf16), all_to_all, 128, 16);
  add("hgemm128-rs-256-8b", tiled(4096, 128, 64, bf16), reduce_scatter, 256, 8);
  add("hgemm128-ar-256-16b", tiled(4096, 128, 32, bf16), all_reduce, 256, 16);
  add("hgemm128-ar-64-4b", tiled(3072, 128, 64, bf16), all_reduce, 64, 4);
  add("hgemm128-ag-512-24b", tiled(6144, 128, 64, bf16), all_gather, 512, 24);
  add("library-8k-ar-512-16b", library(8192, 8192, 8192), all_reduce, 512, 16);
  add("library-4k-ar-64-4b", library(4096, 4096, 4096), all_reduce, 64, 4);
  add("library-ffn-rs-128-8b", library(4096, 11008, 4096), reduce_scatter, 128, 8);
  add("library-6k-ag-256-8b", library(6144, 6144, 6144), all_gather, 256, 8);
  add("library-wide-ar-128-16b", library(2048, 16384, 4096), all_reduce, 128, 16);
  return cases;
}

}  // namespace elbowroom::detail
