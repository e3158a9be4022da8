#include "elbowroom/model/comm_catalog.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "elbowroom/model/device_catalog.hpp"
#include "run/limits.hpp"

namespace elbowroom {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

Result<CommKernel> find(std::string_view text, std::string_view device) { return find_comm_kernel(text, *find_device(device)); }

TEST(CommCatalog, NcclDiffersByArchitecture) {
  const Result<CommKernel> ampere = find("nccl-2.28:544", "a100");
  ASSERT_TRUE(ampere.ok());
  EXPECT_EQ(ampere->footprint, (KernelFootprint{Threads(544), Registers(96), Bytes(7'104), Bytes(82'240), 1}));
  const Result<CommKernel> hopper = find("nccl-2.28:544", "h200");
  ASSERT_TRUE(hopper.ok());
  EXPECT_EQ(hopper->footprint, (KernelFootprint{Threads(544), Registers(96), Bytes(21'568), Bytes(82'240), 4}));
}

// cuobjdump says 37,824 of sm_90, of which 1,024 are the driver's.
TEST(CommCatalog, NcclDiffersByRelease) {
  for (const std::string release : {"2.29", "2.30", "2.31", "2.32"}) {
    SCOPED_TRACE(release);
    const Result<CommKernel> hopper = find("nccl-" + release + ":512", "h100");
    ASSERT_TRUE(hopper.ok());
    EXPECT_EQ(hopper->footprint, (KernelFootprint{Threads(512), Registers(96), Bytes(36'800), Bytes(82'240), 4}));
    EXPECT_EQ(find("nccl-" + release + ":512", "a100")->footprint.static_shared, Bytes(14'144));
    EXPECT_EQ(hopper->row, hopper->name);
  }
}

// Scratch of 20 warps: (loads x 32 + 1) x 16 B each, 4 loads before sm_80, 8 from there on, 6 on sm_120.
TEST(CommCatalog, NcclDiffersByWhatADeviceLoads) {
  DeviceLimits device = *find_device("a100");
  const auto of = [&](const char* architecture) {
    device.architecture = architecture;
    const KernelFootprint footprint = find_comm_kernel("nccl-2.30:640", device)->footprint;
    return std::pair(footprint.static_shared.count(), footprint.dynamic_shared.count());
  };
  EXPECT_EQ(of("sm_70"), std::pair(6'976L, 41'280L));  // 129 x 16 x 20
  EXPECT_EQ(of("sm_75"), std::pair(6'976L, 41'280L));
  EXPECT_EQ(of("sm_89"), std::pair(14'144L, 82'240L));  // 257 x 16 x 20
  EXPECT_EQ(of("sm_103"), std::pair(36'800L, 82'240L));
  EXPECT_EQ(of("sm_120"), std::pair(36'800L, 61'760L));  // 193 x 16 x 20
  EXPECT_EQ(of("sm_121"), std::pair(36'800L, 61'760L));
}

TEST(CommCatalog, AReleaseWithoutARowTakesTheNewestBelowIt) {
  const Result<CommKernel> newer = find("nccl-2.99:544", "h200");
  ASSERT_TRUE(newer.ok());
  EXPECT_EQ(newer->name, "nccl-2.99:544");
  EXPECT_EQ(newer->row, "nccl-2.32:544");
  EXPECT_EQ(newer->footprint, find("nccl-2.32:544", "h200")->footprint);
  EXPECT_EQ(find("nccl-2.18:544", "h200")->row, "nccl-2.28:544");
  EXPECT_EQ(note_on_release({2, 99}), "NCCL 2.99 has no row in the catalog: footprints are those of 2.32");
  EXPECT_EQ(note_on_release({2, 30}), std::nullopt);
}

TEST(CommCatalog, KernelsOnSymmetricMemoryLostTheirDynamicMemory) {
  const auto block = [](CollectiveOp op, int minor) { return symmetric_comm_kernel(op, CommRelease{2, minor})->footprint; };
  EXPECT_EQ(block(CollectiveOp::all_gather, 28), (KernelFootprint{Threads(512), Registers(80), Bytes(0), Bytes(82'240), 4}));
  EXPECT_EQ(block(CollectiveOp::all_reduce, 30), (KernelFootprint{Threads(512), Registers(128), Bytes(0), Bytes(0), 4}));
  EXPECT_EQ(symmetric_comm_kernel(CollectiveOp::all_reduce)->name, "nccl-2.28:symmetric");
  EXPECT_EQ(find("nccl-2.30:symmetric", "h200")->footprint, block(CollectiveOp::all_reduce, 30));
  const Result<CommKernel> unknown = find("nccl-2.31:symmetric", "h200");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().message,
            "comm kernel 'nccl-2.31:symmetric': dynamic shared memory is not known of NCCL 2.31, expected "
            "threads,registers,static,dynamic,cluster");
  EXPECT_EQ(find("nccl-2.28:symmetric", "a100").error().message,
            "comm kernel 'nccl-2.28:symmetric' begins with sm_90, a100 is sm_80");
}

TEST(CommCatalog, RefusesDevicesWithoutCode) {
  DeviceLimits pascal = *find_device("a100");
  pascal.name = "p100";
  pascal.architecture = "sm_60";
  EXPECT_EQ(find_comm_kernel("nccl-2.28:544", pascal).error().message,
            "comm kernel 'nccl-2.28:544' has no code for p100 (sm_60), expected sm_70 or newer");
}

TEST(CommCatalog, A40RunsTheCodeOfA100) {
  EXPECT_EQ(find("nccl-2.28:640", "a40")->footprint, find("nccl-2.28:640", "a100")->footprint);
}

TEST(CommCatalog, NcclThreadCountsAreEntries) {
  EXPECT_EQ(find("nccl-2.28:512", "h100")->footprint.threads, Threads(512));
  EXPECT_EQ(find("nccl-2.28:640", "h100")->footprint.threads, Threads(640));
}

TEST(CommCatalog, RcclGrowsWithItsVersion) {
  EXPECT_EQ(find("rccl-5.2", "mi250x")->footprint, (KernelFootprint{Threads(256), Registers(216), Bytes(4'184), Bytes(0), 1}));
  EXPECT_EQ(find("rccl-6.2", "mi250x")->footprint.static_shared, Bytes(20'632));  // 4,184 + 16,448
}

TEST(CommCatalog, DefaultsBelongToTheVendorAndExist) {
  for (const DeviceLimits& device : device_catalog()) {
    SCOPED_TRACE(device.name);
    EXPECT_TRUE(find_comm_kernel(default_comm_kernel(device), device).ok());
  }
  EXPECT_EQ(default_comm_kernel(*find_device("h200")), "nccl-2.32:544");
  EXPECT_EQ(default_comm_kernel(*find_device("h200"), CommRelease{2, 30}), "nccl-2.30:544");
  EXPECT_EQ(default_comm_kernel(*find_device("mi250x")), "rccl-5.2");
}

TEST(CommCatalog, ListsTheNamesOfOneVendor) {
  EXPECT_THAT(comm_kernel_names(Vendor::nvidia),
              IsSupersetOf({"nccl-2.28:512", "nccl-2.28:544", "nccl-2.30:640", "nccl-2.30:symmetric"}));
  EXPECT_THAT(comm_kernel_names(Vendor::nvidia), Not(Contains("nccl-2.32:symmetric")));
  EXPECT_THAT(comm_kernel_names(Vendor::amd), ElementsAre("rccl-5.2", "rccl-6.2"));
}

TEST(CommCatalog, ReadsAnExplicitFootprint) {
  const Result<CommKernel> kernel = find("288,96,21568,80K,2", "h200");
  ASSERT_TRUE(kernel.ok());
  EXPECT_EQ(kernel->name, "custom");
  EXPECT_EQ(kernel->footprint, (KernelFootprint{Threads(288), Registers(96), Bytes(21'568), Bytes(81'920), 2}));
}

TEST(CommCatalog, RefusesTheOtherVendorsLibrary) {
  const Result<CommKernel> kernel = find("nccl-2.28:544", "mi250x");
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.error().message,
            "comm kernel 'nccl-2.28:544' runs on NVIDIA, mi250x is AMD; expected one of rccl-5.2, rccl-6.2");
}

TEST(CommCatalog, RefusesWhatItCannotReadAndNamesTheField) {
  const auto message = [](std::string_view text) {
    const Result<CommKernel> kernel = find(text, "h200");
    return kernel.ok() ? std::string("accepted") : kernel.error().message;
  };
  EXPECT_THAT(message("nccl-1.0"),
              HasSubstr("expected nccl-RELEASE:KIND (RELEASE 2.28 to 2.32, KIND 512, 544, 640, symmetric) or threads,"));
  for (const std::string_view text :
       {"nccl-", "nccl-2", "nccl-2.", "nccl-2.28", "nccl-2.28:", "nccl-2.28:543", "nccl-2.x:512", "nccl--2.28:512", "nccl-2.-1:512",
        "nccl-0.1:512", "nccl-99999999999.1:512", "nccl-2.28:512 "}) {
    EXPECT_THAT(message(text), HasSubstr("is not in the catalog")) << text;
  }
  EXPECT_THAT(message(""), HasSubstr("comm kernel '' is not in the catalog"));
  EXPECT_THAT(message("1,2,3"), HasSubstr("has 3 fields, expected threads,registers,static,dynamic,cluster"));
  EXPECT_THAT(message("1,2,3,4,5,6"), HasSubstr("has 6 fields"));
  EXPECT_THAT(message("0,96,0,0,1"), HasSubstr("threads is '0', expected a whole number from 1"));
  EXPECT_THAT(message("544,96x,0,0,1"), HasSubstr("registers is '96x'"));
  EXPECT_THAT(message("544,96,-1,0,1"), HasSubstr("static is '-1', expected a size in bytes"));
  EXPECT_THAT(message("544,96,0,1.5X,1"), HasSubstr("dynamic is '1.5X'"));
  EXPECT_THAT(message("544,96,0,0,"), HasSubstr("cluster is ''"));
  EXPECT_THAT(message("99999999999,96,0,0,1"), HasSubstr("threads is '99999999999'"));
}

// Rules of a run are read by a library that takes nothing of model/.
static_assert(kGreatestCommBlocks.count() == run::kGreatestCommBlocks);

}  // namespace
}  // namespace elbowroom
