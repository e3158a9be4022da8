#include "elbowroom/model/device_catalog.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace elbowroom {
namespace {

using ::testing::ElementsAre;

TEST(DeviceCatalog, ListsTheDevicesOfTheContract) {
  std::vector<std::string> names;
  for (const DeviceLimits& device : device_catalog()) { names.push_back(device.name); }
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

DeviceLimits live(std::string architecture, std::int64_t sms) {
  DeviceLimits limits;
  limits.architecture = std::move(architecture);
  limits.sms = Sms(sms);
  return limits;
}

TEST(CatalogName, IsThatOfAWordWithTheSameArchitectureAndSms) {
  EXPECT_EQ(catalog_name("NVIDIA H100 80GB HBM3", live("sm_90", 132)), "h100");
  EXPECT_EQ(catalog_name("NVIDIA H200", live("sm_90", 132)), "h200");
  EXPECT_EQ(catalog_name("AMD Instinct MI250X/MI250", live("gfx90a", 110)), "mi250x");
  EXPECT_EQ(catalog_name("NVIDIA A100-SXM4-80GB", live("sm_80", 108)), "a100");
}

TEST(CatalogName, OfACutDownCardOrAPartitionIsItsArchitecture) {
  // Full: an H100 SXM of 132 SMs, an MI300X of 304 compute units on eight dies.
  EXPECT_EQ(catalog_name("NVIDIA H100 PCIe", live("sm_90", 114)), "sm_90");
  EXPECT_EQ(catalog_name("NVIDIA H100 80GB HBM3 MIG 1g.10gb", live("sm_90", 16)), "sm_90");
  EXPECT_EQ(catalog_name("AMD Instinct MI300X", live("gfx942", 38)), "gfx942");
}

TEST(CatalogName, OfAnUnlistedDeviceIsItsArchitecture) {
  EXPECT_EQ(catalog_name("NVIDIA GH200 480GB", live("sm_90", 132)), "sm_90");
  // A word alone says little: another architecture under a listed name.
  EXPECT_EQ(catalog_name("NVIDIA A100", live("sm_90", 108)), "sm_90");
  EXPECT_EQ(catalog_name("", live("sm_120", 188)), "sm_120");
}

}  // namespace
}  // namespace elbowroom
