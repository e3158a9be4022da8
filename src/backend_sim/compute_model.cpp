#include "backend_sim/compute_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "backend_sim/performance.hpp"
#include "headroom/plan/occupancy.hpp"

namespace headroom::sim {
namespace {

struct GemmKernel {
  int tile_m, tile_n, tile_k;
  DataType dtype;
  int threads, registers, static_shared;
};

// ptxas' report for sm_90 of the CUDA backend's kernels; its launch bounds hold other architectures to the same register budget.
constexpr std::array kGemmKernels{
    GemmKernel{64, 64, 8, DataType::f32, 256, 64, 4'224},      GemmKernel{64, 64, 16, DataType::f32, 256, 64, 8'448},
    GemmKernel{64, 64, 32, DataType::f32, 256, 64, 16'896},    GemmKernel{64, 64, 64, DataType::f32, 256, 64, 33'792},
    GemmKernel{128, 128, 8, DataType::f32, 256, 128, 8'320},   GemmKernel{128, 128, 16, DataType::f32, 256, 128, 16'640},
    GemmKernel{128, 128, 32, DataType::f32, 256, 128, 33'280}, GemmKernel{64, 64, 32, DataType::bf16, 128, 96, 9'728},
    GemmKernel{64, 64, 64, DataType::bf16, 128, 96, 18'432},   GemmKernel{128, 128, 32, DataType::bf16, 256, 128, 18'944},
    GemmKernel{128, 128, 64, DataType::bf16, 256, 128, 35'840},
};

constexpr int kElementwiseThreads = 256;
constexpr int kElementwiseRegisters = 30;
constexpr double kVector = 16;  // bytes that a thread reads, and writes

// How a step's waiting and issuing overlap: exponent of the norm that joins them (1: not at all).
constexpr double kStepOverlap = 1.3;
// A step waits for its barriers and the first load, then for each round of loads the pipeline did not hide; in load rounds.
constexpr double kStepLatency = 1.1;
constexpr double kRoundLatency = 0.42;
// Share of the peak that the plain kernels' inner loops reach when nothing makes them wait.
constexpr double kSimtEfficiency = 0.72;
constexpr double kTensorEfficiency = 0.45;
// Of what a tile loads, the part that L2 does not have.
constexpr double kTileMisses = 0.3;
constexpr double kGemmMemoryShare = 1.0;
constexpr double kLibraryMemoryShare = 0.2;

double f(std::int64_t number) { return static_cast<double>(number); }

std::string_view tile_name_list() { return "64x64x{8,16,32,64}, 128x128x{8,16,32} for f32, 64x64x{32,64}, 128x128x{32,64} for bf16"; }

Result<KernelFootprint> footprint_of(const TiledGemm& gemm) {
  for (const GemmKernel& kernel : kGemmKernels) {
    if (kernel.dtype != gemm.dtype || kernel.tile_m != gemm.tile_m || kernel.tile_n != gemm.tile_n || kernel.tile_k != gemm.tile_k) {
      continue;
    }
    return KernelFootprint{Threads(kernel.threads), Registers(kernel.registers), Bytes(kernel.static_shared), Bytes(0), 1};
  }
  return invalid_input(fmt::format("compute.tile_m, tile_n, tile_k: {}x{}x{} {}, expected one of {}", gemm.tile_m, gemm.tile_n,
                                   gemm.tile_k, to_string(gemm.dtype), tile_name_list()));
}

// Threads load 16 bytes each, A's tile and B's tile in turn.
double load_rounds(const TiledGemm& gemm, double threads) {
  const double element = f(size_of(gemm.dtype).count());
  const double a = f(gemm.tile_m * gemm.tile_k) * element / kVector;
  const double b = f(gemm.tile_n * gemm.tile_k) * element / kVector;
  return std::ceil(a / threads) + std::ceil(b / threads);
}

std::vector<double> tile_times(const TiledGemm& gemm, const KernelFootprint& footprint, const DevicePerformance& speed, int most) {
  const bool simt = gemm.dtype == DataType::f32;
  const double rate = simt ? speed.f32_rate * kSimtEfficiency : speed.tensor_rate * kTensorEfficiency;
  const double issue = 2.0 * f(gemm.tile_m * gemm.tile_n * gemm.tile_k) / rate;
  const double rounds = load_rounds(gemm, f(footprint.threads.count()));
  const double wait = speed.load_round * (kStepLatency + kRoundLatency * rounds);
  std::vector<double> times;
  for (int resident = 1; resident <= most; ++resident) {
    const double step = std::pow(std::pow(wait, kStepOverlap) + std::pow(resident * issue, kStepOverlap), 1.0 / kStepOverlap);
    times.push_back(step * f(gemm.k / gemm.tile_k));
  }
  return times;
}

ComputeProfile profile(const TiledGemm& gemm, const KernelFootprint& footprint, const DevicePerformance& speed, int most) {
  ComputeProfile profile;
  profile.footprint = footprint;
  const std::int64_t tiles_x = gemm.n / gemm.tile_n;
  const std::int64_t tiles_y = gemm.m / gemm.tile_m;
  const GridShape grid = gemm.grid.value_or(GridShape{tiles_x, tiles_y});
  profile.work = {grid.x, grid.y, tiles_x, tiles_y};
  profile.tile_time = tile_times(gemm, footprint, speed, most);
  profile.block_overhead = speed.block_time;
  profile.traffic = f((gemm.tile_m + gemm.tile_n) * gemm.k * size_of(gemm.dtype).count()) * kTileMisses + f(gemm.tile_m * gemm.tile_n * 4);
  profile.memory_share = kGemmMemoryShare;
  return profile;
}

ComputeProfile profile(const Elementwise& what, const KernelFootprint& footprint, const DevicePerformance& speed, int most) {
  ComputeProfile profile;
  profile.footprint = footprint;
  const double per_block = f(footprint.threads.count()) * kVector;
  const auto blocks = static_cast<std::int64_t>(std::ceil(f(what.bytes.count()) / per_block));
  profile.work = {blocks, 1, blocks, 1};
  profile.tile_time.assign(static_cast<std::size_t>(most), speed.block_time);
  profile.traffic = 2 * per_block;
  profile.memory_share = 1.0;
  return profile;
}

// A persistent kernel of the vendor's library: one block per SM, each with its fixed share of the tiles.
constexpr int kLibraryTileM = 128, kLibraryTileN = 256;
constexpr KernelFootprint kLibraryFootprint{Threads(384), Registers(168), Bytes(0), Bytes(213'188), 1};
constexpr double kLibraryEfficiency = 0.80;

KernelFootprint library_footprint(const DeviceLimits& device) {
  KernelFootprint footprint = kLibraryFootprint;
  // Elsewhere the library fills the SM as well, with what shared memory there is.
  footprint.dynamic_shared = std::min(footprint.dynamic_shared, device.shared_per_block);
  return footprint;
}

ComputeProfile profile(const LibraryGemm& gemm, const KernelFootprint& footprint, const DeviceLimits& device, Sms sms) {
  const DevicePerformance& speed = performance_of(device);
  const auto tiles_of = [](std::int64_t extent, int tile) { return (extent + tile - 1) / tile; };
  ComputeProfile profile;
  profile.footprint = footprint;
  const std::int64_t tiles = tiles_of(gemm.m, kLibraryTileM) * tiles_of(gemm.n, kLibraryTileN);
  profile.work = {std::min(sms.count(), tiles), 1, tiles, 1};
  const double rate = (gemm.dtype == DataType::f32 ? speed.f32_rate : speed.tensor_rate) * kLibraryEfficiency;
  profile.tile_time = {2.0 * kLibraryTileM * kLibraryTileN * f(gemm.k) / rate};
  profile.block_overhead = speed.block_time;
  profile.traffic = f((kLibraryTileM + kLibraryTileN) * gemm.k * size_of(gemm.dtype).count()) * kTileMisses +
                    f(kLibraryTileM * kLibraryTileN * size_of(gemm.dtype).count());
  profile.memory_share = kLibraryMemoryShare;
  return profile;
}

}  // namespace

Result<ComputeProfile> compute_profile(const Compute& compute, const KernelFootprint& footprint, const DeviceLimits& device) {
  const Result<Occupancy> runs = occupancy(device, footprint);
  if (!runs) return runs.error();
  const auto most = static_cast<int>(runs->residency.count());
  const DevicePerformance& speed = performance_of(device);
  if (const auto* tiled = std::get_if<TiledGemm>(&compute)) return profile(*tiled, footprint, speed, most);
  if (const auto* library = std::get_if<LibraryGemm>(&compute)) return profile(*library, footprint, device, device.sms);
  return profile(std::get<Elementwise>(compute), footprint, speed, most);
}

Result<ComputeProfile> compute_profile(const Compute& compute, const DeviceLimits& device) {
  if (const auto* tiled = std::get_if<TiledGemm>(&compute)) {
    const Result<KernelFootprint> footprint = footprint_of(*tiled);
    if (!footprint) return footprint.error();
    return compute_profile(compute, *footprint, device);
  }
  if (std::holds_alternative<LibraryGemm>(compute)) return compute_profile(compute, library_footprint(device), device);
  const KernelFootprint footprint{Threads(kElementwiseThreads), Registers(kElementwiseRegisters), Bytes(0), Bytes(0), 1};
  return compute_profile(compute, footprint, device);
}

}  // namespace headroom::sim
