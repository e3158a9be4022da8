// The planner's occupancy of AMD's devices against that of LLVM for a sweep of kernels of known footprints.

#include "elbowroom/plan/occupancy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "elbowroom/model/device_catalog.hpp"
#include "resource_report.hpp"

namespace elbowroom {
namespace {

constexpr int kSimds = 4;

struct Target {
  const char* architecture;
  const char* device;
};

class AmdOccupancy : public testing::TestWithParam<Target> {};

TEST_P(AmdOccupancy, IsThatOfTheCompiler) {
  const DeviceLimits device = *find_device(GetParam().device);
  const auto kernels = read_report(std::string("sweep.") + GetParam().architecture);
  ASSERT_GT(kernels.size(), 800u);
  for (const CompiledKernel& kernel : kernels) {
    int threads = 0, vgprs = 0, agprs = 0, lds = 0;
    ASSERT_EQ(std::sscanf(kernel.name.c_str(), "sweep_t%d_v%d_a%d_l%d", &threads, &vgprs, &agprs, &lds), 4) << kernel.name;
    // Each kernel is the one that the sweep meant.
    EXPECT_EQ(kernel.agprs, agprs) << kernel.name;
    EXPECT_EQ(kernel.lds, lds) << kernel.name;
    EXPECT_GE(kernel.vgprs, vgprs) << kernel.name;

    // The compiler: the waves of a SIMD that registers allow, whole blocks or not, and the waves of the blocks that threads and LDS
    // allow, over four SIMDs.
    const PlannedWaves planned = planned_waves(device, kernel);
    const int waves = (threads + 63) / 64;
    const int of_blocks = (planned.blocks_by_lds * waves + kSimds - 1) / kSimds;
    EXPECT_EQ(std::min(planned.by_registers, of_blocks), kernel.waves_per_simd) << kernel.name;
    // The planner: whole blocks. What the compiler's waves hold of them is the residency, where not LDS bounds it.
    if (lds == 0) { EXPECT_EQ(planned.residency, kernel.waves_per_simd * kSimds / waves) << kernel.name; }
    if (threads == 256) { EXPECT_EQ(planned.residency, kernel.waves_per_simd) << kernel.name; }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, AmdOccupancy, testing::Values(Target{"gfx90a", "mi250x"}, Target{"gfx942", "mi300x"}),
                         [](const auto& named) { return named.param.device; });

}  // namespace
}  // namespace elbowroom
