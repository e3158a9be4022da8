// The backend's kernels as AMD's compilers leave them, and the planner's occupancy against what those compilers make of it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>

#include "elbowroom/model/device_catalog.hpp"
#include "resource_report.hpp"

namespace elbowroom {
namespace {

constexpr int kWaves = 8;  // most of a SIMD

/// What this compiler makes of the planner's limits. It counts the waves of a CU's blocks as if one SIMD had them all where LDS
/// bounds them: exact for the number of blocks as long as that is below eight waves, no bound beyond.
int compilers_figure(const CompiledKernel& kernel) {
  const PlannedWaves planned = planned_waves(*find_device("mi250x"), kernel);
  const int waves = (kernel.threads() + 63) / 64;
  return std::min({planned.by_registers, kWaves, kernel.lds == 0 ? kWaves : planned.blocks_by_lds * waves});
}

std::map<std::string, CompiledKernel> kernels_of(const char* report) {
  std::map<std::string, CompiledKernel> kernels;
  for (const CompiledKernel& kernel : read_report(report)) { kernels[kernel.name] = kernel; }
  return kernels;
}

TEST(Gfx90aOccupancy, OfASweepOfKernelsIsThatOfHipcc) {
  const auto kernels = read_report("sweep.gfx90a");
  ASSERT_GT(kernels.size(), 800u);
  for (const CompiledKernel& kernel : kernels) { EXPECT_EQ(compilers_figure(kernel), kernel.waves_per_simd) << kernel.name; }
}

TEST(Gfx90aOccupancy, OfTheBackendsKernelsIsThatOfHipcc) {
  const auto kernels = read_report("kernels.gfx90a");
  ASSERT_EQ(kernels.size(), 38u);
  for (const CompiledKernel& kernel : kernels) { EXPECT_EQ(compilers_figure(kernel), kernel.waves_per_simd) << kernel.name; }
}

// LLVM 19 takes LDS as the planner does, so that blocks of four waves compare directly.
TEST(Gfx942Occupancy, OfTheBackendsKernelsIsThatOfLlvm) {
  const auto kernels = read_report("kernels.gfx942");
  if (kernels.empty()) { GTEST_SKIP() << "no clang++-19 when this was configured"; }
  ASSERT_EQ(kernels.size(), 38u);
  for (const CompiledKernel& kernel : kernels) {
    EXPECT_EQ(planned_waves(*find_device("mi300x"), kernel).residency, kernel.waves_per_simd) << kernel.name;
  }
}

TEST(HipKernelTexts, CompileForEveryArchitectureAndSpillNowhereInTheCatalog) {
  for (const char* report : {"kernels.gfx906", "kernels.gfx908", "kernels.gfx1030"}) {
    EXPECT_EQ(read_report(report).size(), 38u) << report;
  }
  for (const auto& [name, kernel] : kernels_of("kernels.gfx90a")) { EXPECT_EQ(kernel.scratch, 0) << name; }
}

TEST(Gfx90aKernels, OfTiledProductsTakeTheLdsOfTheirTiles) {
  auto kernels = kernels_of("kernels.gfx90a");
  int found = 0;
  for (const auto& [name, kernel] : kernels) {
    int m = 0, n = 0, k = 0;
    const bool f32 = std::sscanf(name.c_str(), "tiled_gemm_f32_%dx%dx%d", &m, &n, &k) == 3;
    if (!f32 && std::sscanf(name.c_str(), "tiled_gemm_bf16_%dx%dx%d", &m, &n, &k) != 3) { continue; }
    EXPECT_EQ(kernel.lds, (m + n) * k * (f32 ? 4 : 2)) << name;
    ++found;
  }
  EXPECT_EQ(found, 11);
  EXPECT_EQ(kernels["elementwise_gelu_bf16"].lds, 0);
  // The paper's opt1 and opt2 differ in what they leave of a CU.
  const DeviceLimits device = *find_device("mi250x");
  EXPECT_EQ(planned_waves(device, kernels["tiled_gemm_f32_64x64x32"]).residency, 4);
  EXPECT_EQ(planned_waves(device, kernels["tiled_gemm_f32_64x64x64"]).residency, 2);
}

// What the fake runtime says of the kernels is what the compiler says: the tests of the backend plan with it.
TEST(Gfx90aKernels, AreWhatTheFakeRuntimeSays) {
  std::map<std::string, std::pair<int, int>> said;
#define ELBOWROOM_ON_CPU(name, registers, static_shared) said[#name] = {registers, static_shared};
#include "kernels_on_cpu.inc"
#undef ELBOWROOM_ON_CPU
  EXPECT_EQ(said.size(), 29u);
  const auto kernels = kernels_of("kernels.gfx90a");
  for (const auto& [name, figures] : said) {
    ASSERT_TRUE(kernels.contains(name)) << name;
    EXPECT_EQ(figures.second, kernels.at(name).lds) << name;
    // Another release of the compiler allocates a few registers more or less.
    EXPECT_NEAR(figures.first, kernels.at(name).registers(), 16) << name;
  }
}

}  // namespace
}  // namespace elbowroom
