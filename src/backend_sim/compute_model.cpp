#include "backend_sim/compute_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "backend_sim/performance.hpp"
#include "elbowroom/plan/occupancy.hpp"

namespace elbowroom::sim {
namespace {

struct GemmKernel {
  int tile_m, tile_n, tile_k;
  DataType dtype;
  int threads, registers, static_shared;
  double wait;   // microseconds on H200 that a k step waits for loads and barriers
  double issue;  // microseconds on H200 for which a k step keeps its SM's units busy
};

constexpr DataType kF32 = DataType::f32;
constexpr DataType kBf16 = DataType::bf16;

// Footprints: as the driver reports the CUDA backend's kernels on sm_90; its launch bounds hold other architectures to the same
// budget. Step times are from compute_only rows at one and at most blocks per SM (docs/simulator.md names the files). The two
// marked rows have none and lie between their neighbours. The last two are the kernels of data/h200x2.csv, told apart by their
// footprint.
constexpr std::array kGemmKernels{
    GemmKernel{64, 64, 8, kF32, 256, 80, 4'224, 1.07, 0.17},
    GemmKernel{64, 64, 16, kF32, 256, 80, 8'448, 1.29, 0.34},
    GemmKernel{64, 64, 32, kF32, 256, 80, 16'896, 2.37, 0.62},
    GemmKernel{64, 64, 64, kF32, 256, 80, 33'792, 1.81, 2.19},
    GemmKernel{128, 128, 8, kF32, 256, 128, 8'320, 1.80, 0.60},  // interpolated
    GemmKernel{128, 128, 16, kF32, 256, 128, 16'640, 2.79, 0.93},
    GemmKernel{128, 128, 32, kF32, 256, 128, 33'280, 3.50, 2.20},  // interpolated
    GemmKernel{64, 64, 32, kBf16, 128, 96, 9'728, 1.93, 0.14},
    GemmKernel{64, 64, 64, kBf16, 128, 96, 18'432, 1.53, 0.25},
    GemmKernel{128, 128, 32, kBf16, 256, 128, 18'944, 2.50, 0.24},
    GemmKernel{128, 128, 64, kBf16, 256, 128, 35'840, 2.45, 0.59},
    GemmKernel{64, 64, 8, kF32, 256, 56, 4'096, 1.50, 0.18},
    GemmKernel{128, 128, 8, kF32, 256, 128, 8'192, 1.42, 0.72},
};

// The same kernels as AMD's compiler (LLVM 15) leaves them for gfx90a. Exactly the tiles are in LDS, the types of a tile in blocks
// of four waves. Their step times are those above, scaled to the device.
struct AmdKernel {
  int tile_m, tile_n, tile_k;
  DataType dtype;
  int registers;
};
constexpr std::array kAmdKernels{
    AmdKernel{64, 64, 8, kF32, 66},      AmdKernel{64, 64, 16, kF32, 66},     AmdKernel{64, 64, 32, kF32, 80},
    AmdKernel{64, 64, 64, kF32, 80},     AmdKernel{128, 128, 8, kF32, 170},   AmdKernel{128, 128, 16, kF32, 174},
    AmdKernel{128, 128, 32, kF32, 174},  AmdKernel{64, 64, 32, kBf16, 63},    AmdKernel{64, 64, 64, kBf16, 64},
    AmdKernel{128, 128, 32, kBf16, 116}, AmdKernel{128, 128, 64, kBf16, 144},
};
constexpr int kAmdThreads = 256;

// The device on which the step times were measured.
constexpr double kF32RateOfH200 = 507e3;
constexpr double kTensorRateOfH200 = 7.49e6;

constexpr int kElementwiseThreads = 256;
constexpr int kElementwiseRegisters = 30;
constexpr int kElementwiseRegistersOfAmd = 17;
constexpr double kVector = 16;  // bytes that a thread reads, and writes

// How a step's waiting and issuing overlap: exponent of the norm that joins them (1: not at all).
constexpr double kStepOverlap = 1.3;
// Of what a tile loads, the part that L2 does not have.
constexpr double kTileMisses = 0.3;
constexpr double kGemmMemoryShare = 1.0;
constexpr double kLibraryMemoryShare = 0.2;

double f(std::int64_t number) { return static_cast<double>(number); }

constexpr std::string_view kTileNames = "64x64x{8,16,32,64}, 128x128x{8,16,32} for f32, 64x64x{32,64}, 128x128x{32,64} for bf16";

template <class Kernel>
bool has_tiles(const Kernel& kernel, const TiledGemm& gemm) {
  return kernel.dtype == gemm.dtype && kernel.tile_m == gemm.tile_m && kernel.tile_n == gemm.tile_n && kernel.tile_k == gemm.tile_k;
}

Result<GemmKernel> kernel_of(const TiledGemm& gemm) {
  for (const GemmKernel& kernel : kGemmKernels) {
    if (has_tiles(kernel, gemm)) { return kernel; }
  }
  return invalid_input(fmt::format("compute.tile_m, tile_n, tile_k: {}x{}x{} {}, expected one of {}", gemm.tile_m, gemm.tile_n,
                                   gemm.tile_k, to_string(gemm.dtype), kTileNames));
}

/// The entry of that footprint among those with these tiles, the first of them where none has it.
Result<GemmKernel> kernel_of(const TiledGemm& gemm, const KernelFootprint& footprint) {
  Result<GemmKernel> found = kernel_of(gemm);
  if (!found) { return found; }
  for (const GemmKernel& kernel : kGemmKernels) {
    if (has_tiles(kernel, gemm) && Bytes(kernel.static_shared) == footprint.static_shared) { return kernel; }
  }
  return found;
}

/// `kernel` as the device's compiler leaves it.
KernelFootprint footprint_of(const GemmKernel& kernel, const TiledGemm& gemm, const DeviceLimits& device) {
  if (device.vendor == Vendor::nvidia) {
    return {Threads(kernel.threads), Registers(kernel.registers), Bytes(kernel.static_shared), Bytes(0), 1};
  }
  // Every tile configuration has an entry in both tables.
  const auto* const found =
      std::find_if(kAmdKernels.begin(), kAmdKernels.end(), [&](const AmdKernel& one) { return has_tiles(one, gemm); });
  const Bytes tiles = (gemm.tile_m + gemm.tile_n) * gemm.tile_k * size_of(gemm.dtype);
  return {Threads(kAmdThreads), Registers(found->registers), tiles, Bytes(0), 1};
}

std::vector<double> tile_times(const TiledGemm& gemm, const GemmKernel& kernel, const SimulatedSpeeds& speed, int most) {
  const double faster = gemm.dtype == DataType::f32 ? speed.f32_rate / kF32RateOfH200 : speed.tensor_rate / kTensorRateOfH200;
  const double issue = kernel.issue / faster;
  const double wait = kernel.wait * speed.load_latency;
  std::vector<double> times;
  for (int resident = 1; resident <= most; ++resident) {
    const double step = std::pow(std::pow(wait, kStepOverlap) + std::pow(resident * issue, kStepOverlap), 1.0 / kStepOverlap);
    times.push_back(step * f(gemm.k / gemm.tile_k));
  }
  return times;
}

ComputeProfile profile(const TiledGemm& gemm, const GemmKernel& kernel, const KernelFootprint& footprint,
                       const SimulatedSpeeds& speed, int most) {
  ComputeProfile profile;
  profile.footprint = footprint;
  const std::int64_t tiles_x = gemm.n / gemm.tile_n;
  const std::int64_t tiles_y = gemm.m / gemm.tile_m;
  const GridShape grid = gemm.grid.value_or(GridShape{tiles_x, tiles_y});
  profile.work = {grid.x, grid.y, tiles_x, tiles_y};
  profile.tile_time = tile_times(gemm, kernel, speed, most);
  profile.block_overhead = speed.block_time;
  profile.traffic =
      f((gemm.tile_m + gemm.tile_n) * gemm.k * size_of(gemm.dtype).count()) * kTileMisses + f(gemm.tile_m * gemm.tile_n * 4);
  profile.memory_share = kGemmMemoryShare;
  return profile;
}

ComputeProfile profile(const Elementwise& what, const KernelFootprint& footprint, const SimulatedSpeeds& speed, int most) {
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

// What it moves, it waits for.
ComputeProfile profile(const FootprintKernel& kernel, int most) {
  ComputeProfile profile;
  profile.footprint = kernel.footprint;
  profile.work = {kernel.blocks.count(), 1, kernel.blocks.count(), 1};
  profile.tile_time.assign(static_cast<std::size_t>(most), kernel.block_time.count());
  profile.traffic = f(kernel.traffic.count());
  profile.memory_share = kernel.traffic > Bytes(0) ? 1.0 : 0.0;
  return profile;
}

// A persistent kernel of the vendor's library: one block per SM; whichever is free takes the next tile.
constexpr std::int64_t kLibraryTileM = 128;
constexpr std::int64_t kLibraryTileN = 256;
constexpr KernelFootprint kLibraryFootprint{Threads(384), Registers(168), Bytes(0), Bytes(213'188), 1};
constexpr double kLibraryEfficiency = 0.84;

/// Flop per microsecond of one SM.
Result<double> product_rate(const DeviceLimits& device, DataType dtype) {
  struct ByType {
    const char* member;
    double SimulatedSpeeds::* rate;
  };
  constexpr std::array rates{
      ByType{"f32_mflops_per_sm", &SimulatedSpeeds::f32_rate}, ByType{"bf16_mflops_per_sm", &SimulatedSpeeds::tensor_rate},
      ByType{"f16_mflops_per_sm", &SimulatedSpeeds::f16_rate}, ByType{"e4m3_mflops_per_sm", &SimulatedSpeeds::e4m3_rate}};
  const ByType& one = rates[static_cast<std::size_t>(dtype)];
  const double rate = performance_of(device).*one.rate;
  if (rate > 0) { return rate; }
  return invalid_input(fmt::format("compute.dtype: \"{}\", expected a type whose rate is known: {} has no simulator.{}",
                                   to_string(dtype), device.name, one.member));
}

KernelFootprint library_footprint(const DeviceLimits& device) {
  KernelFootprint footprint = kLibraryFootprint;
  // Elsewhere the library fills the SM as well, with what shared memory there is.
  footprint.dynamic_shared = std::min(footprint.dynamic_shared, device.shared_per_block);
  return footprint;
}

ComputeProfile profile(const LibraryGemm& gemm, const KernelFootprint& footprint, const DeviceLimits& device, double rate) {
  const auto tiles_of = [](std::int64_t extent, std::int64_t tile) { return (extent + tile - 1) / tile; };
  ComputeProfile profile;
  profile.footprint = footprint;
  const std::int64_t tiles = tiles_of(gemm.m, kLibraryTileM) * tiles_of(gemm.n, kLibraryTileN);
  profile.work = {std::min(device.sms.count(), tiles), 1, tiles, 1};
  profile.persistent = true;
  profile.tile_time = {2.0 * f(kLibraryTileM * kLibraryTileN * gemm.k) / (rate * kLibraryEfficiency)};
  profile.block_overhead = performance_of(device).block_time;
  profile.traffic = f((kLibraryTileM + kLibraryTileN) * gemm.k * size_of(gemm.dtype).count()) * kTileMisses +
                    f(kLibraryTileM * kLibraryTileN * size_of(gemm.result()).count());
  profile.memory_share = kLibraryMemoryShare;
  return profile;
}

}  // namespace

Result<ComputeProfile> compute_profile(const Compute& compute, const KernelFootprint& footprint, const DeviceLimits& device) {
  const Result<Occupancy> runs = occupancy(device, footprint);
  if (!runs) { return runs.error(); }
  const auto most = static_cast<int>(runs->residency.count());
  const SimulatedSpeeds& speed = performance_of(device);
  if (const auto* tiled = std::get_if<TiledGemm>(&compute)) {
    // Those that are told apart by their footprint are of NVIDIA's compiler.
    const Result<GemmKernel> kernel = device.vendor == Vendor::nvidia ? kernel_of(*tiled, footprint) : kernel_of(*tiled);
    if (!kernel) { return kernel.error(); }
    return profile(*tiled, *kernel, footprint, speed, most);
  }
  if (const auto* library = std::get_if<LibraryGemm>(&compute)) {
    const Result<double> rate = product_rate(device, library->dtype);
    if (!rate) { return rate.error(); }
    return profile(*library, footprint, device, *rate);
  }
  if (const auto* described = std::get_if<FootprintKernel>(&compute)) { return profile(*described, most); }
  return profile(std::get<Elementwise>(compute), footprint, speed, most);
}

Result<ComputeProfile> compute_profile(const Compute& compute, const DeviceLimits& device) {
  if (const auto* module = std::get_if<ModuleKernel>(&compute)) {
    return invalid_input(fmt::format(
        "compute.kernel: module ({}), expected one whose work the simulator knows; \"footprint\" describes it", module->function));
  }
  if (const auto* described = std::get_if<FootprintKernel>(&compute)) {
    return compute_profile(compute, described->footprint, device);
  }
  if (const auto* tiled = std::get_if<TiledGemm>(&compute)) {
    const Result<GemmKernel> kernel = kernel_of(*tiled);
    if (!kernel) { return kernel.error(); }
    return compute_profile(compute, footprint_of(*kernel, *tiled, device), device);
  }
  if (std::holds_alternative<LibraryGemm>(compute)) { return compute_profile(compute, library_footprint(device), device); }
  const int registers = device.vendor == Vendor::nvidia ? kElementwiseRegisters : kElementwiseRegistersOfAmd;
  const KernelFootprint footprint{Threads(kElementwiseThreads), Registers(registers), Bytes(0), Bytes(0), 1};
  return compute_profile(compute, footprint, device);
}

Result<ComputeProfile> compute_profile(const RecordedKernel& kernel, const DeviceLimits& device) {
  if (!kernel.threads || !kernel.registers_per_thread) {
    return invalid_input(
        fmt::format("recorded kernel \"{}\": footprint without {}, expected threads and registers (room on an SM "
                    "follows from them)",
                    kernel.name, kernel.threads ? "registers" : "threads"));
  }
  ComputeProfile profile;
  profile.footprint = {*kernel.threads, *kernel.registers_per_thread, kernel.static_shared.value_or(Bytes(0)),
                       kernel.dynamic_shared.value_or(Bytes(0)), kernel.cluster.value_or(1)};
  const Result<Occupancy> runs = occupancy(device, profile.footprint);
  if (!runs) { return runs.error(); }
  profile.work = {kernel.blocks.count(), 1, kernel.blocks.count(), 1};
  const std::int64_t at_once = runs->residency.count() * device.sms.count();
  const std::int64_t waves = (kernel.blocks.count() + at_once - 1) / at_once;
  std::vector<Microseconds> times = kernel.times;
  std::ranges::sort(times);
  const Microseconds median = (times[(times.size() - 1) / 2] + times[times.size() / 2]) / 2;
  profile.tile_time.assign(static_cast<std::size_t>(runs->residency.count()), median.count() / static_cast<double>(waves));
  return profile;
}

}  // namespace elbowroom::sim
