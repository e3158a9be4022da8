#include "elbowroom/model/device_catalog.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace elbowroom {
namespace {

using ::testing::ElementsAre;

TEST(DeviceCatalog, ListsTheDevicesOfTheContract) {
  std::vector<std::string> names;
  for (const DeviceLimits& device : device_catalog()) names.push_back(device.name);
  EXPECT_THAT(names, ElementsAre("a40", "a100", "h100", "h200", "b200", "mi250x", "mi300x"));
}

TEST(DeviceCatalog, EveryEntryIsCompleteAndConsistent) {
  for (const DeviceLimits& device : device_catalog()) {
    SCOPED_TRACE(device.name);
    EXPECT_FALSE(device.title.empty());
    EXPECT_FALSE(device.architecture.empty());
    EXPECT_FALSE(device.source.empty());
    EXPECT_GT(device.sms, Sms(0));
    EXPECT_GE(device.max_threads_per_sm, device.max_threads_per_block);
    EXPECT_EQ(device.max_threads_per_sm, round_down(device.max_threads_per_sm, device.warp * device.sub_partitions));
    EXPECT_EQ(device.registers_per_sm, round_down(device.registers_per_sm, device.register_granule * device.sub_partitions));
    EXPECT_EQ(device.shared_per_sm, round_down(device.shared_per_sm, device.shared_granule));
    // The largest launch and the system's share of it are exactly what one SM has.
    EXPECT_EQ(device.shared_per_block + device.shared_reserved_per_block, device.shared_per_sm);
    EXPECT_GE(device.max_cluster, 1);
  }
}

TEST(DeviceCatalog, HasTheDocumentedSharedMemory) {
  EXPECT_EQ(find_device("a40")->shared_per_sm, Bytes(102'400));      // 100 KiB
  EXPECT_EQ(find_device("a100")->shared_per_block, Bytes(166'912));  // 163 KiB
  EXPECT_EQ(find_device("h200")->shared_per_block, Bytes(232'448));  // 227 KiB
  EXPECT_EQ(find_device("mi250x")->shared_per_sm, Bytes(65'536));    // 64 KiB of LDS
}

TEST(DeviceCatalog, CountsAmdRegistersOverAllLanesAndSimds) {
  // 512 VGPRs x 64 lanes x 4 SIMDs = 131,072 registers, that is 512 KiB; 8 waves x 4 SIMDs x 64 = 2,048 threads.
  const Result<DeviceLimits> device = find_device("mi250x");
  ASSERT_TRUE(device.ok());
  EXPECT_EQ(device->registers_per_sm, Registers(131'072));
  EXPECT_EQ(device->register_granule, Registers(512));
  EXPECT_EQ(device->max_threads_per_sm, Threads(2'048));
}

TEST(DeviceCatalog, RefusesAnUnknownNameAndListsAll) {
  const Result<DeviceLimits> device = find_device("H200");
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.error().kind, ErrorKind::invalid_input);
  EXPECT_EQ(device.error().message,
            "device 'H200' is not in the catalog, expected one of a40, a100, h100, h200, b200, mi250x, mi300x");
}

}  // namespace
}  // namespace elbowroom
