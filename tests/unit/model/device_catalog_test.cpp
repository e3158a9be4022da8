#include "elbowroom/model/device_catalog.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "elbowroom/model/device_facts.hpp"

namespace elbowroom {
namespace {

using ::testing::IsSupersetOf;

TEST(DeviceCatalog, ListsTheDevicesOfTheContract) {
  std::vector<std::string> names;
  for (const DeviceLimits& device : device_catalog()) { names.push_back(device.name); }
  EXPECT_THAT(names, IsSupersetOf({"a40", "a100", "h100", "h200", "b200", "mi250x", "mi300x"}));
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

TEST(DeviceCatalog, IsOrderedByVendorAndArchitecture) {
  std::vector<std::string> names;
  for (const DeviceLimits& device : device_catalog()) { names.push_back(device.name); }
  const auto place = [&](const char* name) { return std::ranges::find(names, name) - names.begin(); };
  EXPECT_LT(place("a100"), place("a40"));
  EXPECT_LT(place("a40"), place("h100"));
  EXPECT_LT(place("h200"), place("b200"));  // sm_90, sm_100
  EXPECT_LT(place("b200"), place("mi250x"));
  EXPECT_LT(place("mi250x"), place("mi300x"));
}

TEST(DeviceCatalog, KnowsWhatPeopleAndDriversWrite) {
  for (const auto& [written, name] : {std::pair{"H200", "h200"},
                                      {"H200 SXM", "h200"},
                                      {"NVIDIA H100 80GB HBM3", "h100"},
                                      {"NVIDIA A100-SXM4-80GB", "a100"},
                                      {"AMD Instinct MI300X", "mi300x"},
                                      {"RTX 4090", "rtx4090"},
                                      {"GH200", "gh200"},
                                      {"L40S", "l40s"},
                                      {"Tesla T4", "t4"}}) {
    const Result<DeviceLimits> device = find_device(written);
    ASSERT_TRUE(device.ok()) << written;
    EXPECT_EQ(device->name, name);
  }
}

TEST(DeviceCatalog, NoNameMeansTwoDevices) {
  for (const DeviceLimits& device : device_catalog()) {
    std::vector<std::string> names = device.facts->names;
    names.push_back(device.name);
    names.push_back(device.title);
    for (const std::string& name : names) { EXPECT_EQ(find_device(name)->name, device.name) << name; }
  }
}

TEST(DeviceCatalog, RefusesAnUnknownNameAndSaysTheNearest) {
  const Result<DeviceLimits> device = find_device("MI325Y");
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.error().kind, ErrorKind::invalid_input);
  EXPECT_THAT(device.error().message,
              ::testing::StartsWith("device 'MI325Y' is not in the catalog, nearest is mi325x; expected one of "));
  EXPECT_FALSE(find_device("").ok());
  EXPECT_FALSE(find_device("NVIDIA").ok());
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
  EXPECT_EQ(catalog_name("NVIDIA A100-SXM4-40GB", live("sm_80", 108)), "a100-40gb");
  EXPECT_EQ(catalog_name("NVIDIA H100 PCIe", live("sm_90", 114)), "h100-pcie");
  EXPECT_EQ(catalog_name("NVIDIA GH200 480GB", live("sm_90", 132)), "gh200");
}

TEST(CatalogName, OfACutDownCardOrAPartitionIsItsArchitecture) {
  // Full: an H100 SXM of 132 SMs, an MI300X of 304 compute units on eight dies.
  EXPECT_EQ(catalog_name("NVIDIA A40-24Q", live("sm_86", 42)), "sm_86");
  EXPECT_EQ(catalog_name("NVIDIA H100 80GB HBM3 MIG 1g.10gb", live("sm_90", 16)), "sm_90");
  EXPECT_EQ(catalog_name("AMD Instinct MI300X", live("gfx942", 38)), "gfx942");
}

TEST(CatalogName, OfAnUnlistedDeviceIsItsArchitecture) {
  EXPECT_EQ(catalog_name("NVIDIA H800", live("sm_90", 132)), "sm_90");
  // A word alone says little: another architecture under a listed name.
  EXPECT_EQ(catalog_name("NVIDIA A100", live("sm_90", 108)), "sm_90");
  EXPECT_EQ(catalog_name("", live("sm_120", 188)), "sm_120");
}

}  // namespace
}  // namespace elbowroom
