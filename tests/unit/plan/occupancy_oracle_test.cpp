// The occupancy rule against the calculator that NVIDIA ships as plain C++ with its toolkit.
#include <gtest/gtest.h>

#if __has_include(<cuda_occupancy.h>)
#define ELBOWROOM_HAS_ORACLE 1
#include <cuda_occupancy.h>
#else
#define ELBOWROOM_HAS_ORACLE 0
#endif

#include <climits>
#include <cstdint>
#include <random>
#include <string_view>

#include "elbowroom/plan/occupancy.hpp"
#include "unit/plan/footprints.hpp"

namespace elbowroom {
namespace {

class OccupancyOracle : public ::testing::TestWithParam<std::string_view> {};

#if ELBOWROOM_HAS_ORACLE

struct Capability {
  int major, minor;
};

// "sm_90" is 9.0, "sm_100" is 10.0.
Capability capability(const DeviceLimits& device) {
  const int number = std::stoi(device.architecture.substr(3));
  return {number / 10, number % 10};
}

cudaOccDeviceProp properties(const DeviceLimits& device) {
  cudaOccDeviceProp prop;
  prop.computeMajor = capability(device).major;
  prop.computeMinor = capability(device).minor;
  prop.maxThreadsPerBlock = static_cast<int>(device.max_threads_per_block.count());
  prop.maxThreadsPerMultiprocessor = static_cast<int>(device.max_threads_per_sm.count());
  prop.regsPerBlock = static_cast<int>(device.registers_per_sm.count());
  prop.regsPerMultiprocessor = static_cast<int>(device.registers_per_sm.count());
  prop.warpSize = static_cast<int>(device.warp.count());
  prop.sharedMemPerBlock = 48 * 1'024;  // without opting in, on every architecture
  prop.sharedMemPerMultiprocessor = static_cast<std::size_t>(device.shared_per_sm.count());
  prop.numSms = static_cast<int>(device.sms.count());
  prop.sharedMemPerBlockOptin = static_cast<std::size_t>(device.shared_per_block.count());
  prop.reservedSharedMemPerBlock = static_cast<std::size_t>(device.shared_reserved_per_block.count());
  return prop;
}

// 0 when the block cannot run; -1 when the calculator refuses the question.
int oracle(const cudaOccDeviceProp& device, const KernelFootprint& footprint) {
  cudaOccFuncAttributes attributes;
  attributes.maxThreadsPerBlock = INT_MAX;
  attributes.numRegs = static_cast<int>(footprint.registers_per_thread.count());
  attributes.sharedSizeBytes = static_cast<std::size_t>(footprint.static_shared.count());
  attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  attributes.maxDynamicSharedSizeBytes = device.sharedMemPerBlockOptin;
  attributes.numBlockBarriers = 1;
  const cudaOccDeviceState state;
  cudaOccResult result;
  const cudaOccError error =
      cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &attributes, &state, static_cast<int>(footprint.threads.count()),
                                              static_cast<std::size_t>(footprint.dynamic_shared.count()));
  return error == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor : -1;
}

// Beyond the limits as well, so that refusals are compared too. 256 registers are left out: the calculator lets them pass, the
// programming guide ends at 255.
KernelFootprint draw(std::mt19937_64& random) {
  const auto upto = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  const std::int64_t drawn = upto(1, 260);
  const std::int64_t registers = drawn == 256 ? 255 : drawn;
  const bool small = upto(0, 1) == 0;
  const std::int64_t dynamic_shared = upto(0, 3) == 0 ? 0 : upto(0, small ? 16 * 1'024 : 240 * 1'024);
  return testing::block(upto(1, 1'100), registers, upto(0, 48 * 1'024), dynamic_shared);
}

TEST_P(OccupancyOracle, AgreesOnAHundredThousandRandomFootprints) {
  constexpr int kFootprints = 100'000;
  const DeviceLimits device = testing::device(GetParam());
  const cudaOccDeviceProp prop = properties(device);
  std::mt19937_64 random(20'260'101);
  int runnable = 0;
  for (int i = 0; i < kFootprints; ++i) {
    const KernelFootprint footprint = draw(random);
    const Result<Occupancy> own = occupancy(device, footprint);
    const auto residency = own.ok() ? own->residency.count() : 0;
    ASSERT_EQ(residency, oracle(prop, footprint))
        << footprint.threads.count() << " threads, " << footprint.registers_per_thread.count() << " registers, "
        << footprint.static_shared.count() << " B static, " << footprint.dynamic_shared.count() << " B dynamic";
    runnable += residency > 0 ? 1 : 0;
  }
  // Agreement on refusals alone would prove little.
  EXPECT_GT(runnable, kFootprints / 10);
  EXPECT_LT(runnable, kFootprints);
}

#else

TEST_P(OccupancyOracle, AgreesOnAHundredThousandRandomFootprints) {
  GTEST_SKIP() << "no cuda_occupancy.h: the toolkit is not installed";
}

#endif

// One device of each architecture of NVIDIA's; the others have the same limits.
INSTANTIATE_TEST_SUITE_P(Devices, OccupancyOracle,
                         ::testing::Values("v100", "t4", "a100", "a40", "l40s", "h200", "b200", "rtx5090", "gb10"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace elbowroom
