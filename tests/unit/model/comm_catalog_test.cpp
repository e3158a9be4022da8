#include "elbowroom/model/comm_catalog.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "elbowroom/model/device_catalog.hpp"
#include "run/limits.hpp"

namespace elbowroom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<CommKernel> find(std::string_view text, std::string_view device) { return find_comm_kernel(text, *find_device(device)); }

TEST(CommCatalog, NcclDiffersByArchitecture) {
  const Result<CommKernel> ampere = find("nccl-2.28:544", "a100");
  ASSERT_TRUE(ampere.ok());
  EXPECT_EQ(ampere->footprint, (KernelFootprint{Threads(544), Registers(96), Bytes(7'104), Bytes(82'240), 1}));
  const Result<CommKernel> hopper = find("nccl-2.28:544", "h200");
  ASSERT_TRUE(hopper.ok());
  EXPECT_EQ(hopper->footprint, (KernelFootprint{Threads(544), Registers(96), Bytes(22'592), Bytes(82'240), 4}));
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
  EXPECT_EQ(default_comm_kernel(*find_device("h200")), "nccl-2.28:544");
  EXPECT_EQ(default_comm_kernel(*find_device("mi250x")), "rccl-5.2");
}

TEST(CommCatalog, ListsTheNamesOfOneVendor) {
  EXPECT_THAT(comm_kernel_names(Vendor::nvidia), ElementsAre("nccl-2.28:512", "nccl-2.28:544", "nccl-2.28:640"));
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
  EXPECT_THAT(message("nccl-1.0"), HasSubstr("expected one of nccl-2.28:512, nccl-2.28:544, nccl-2.28:640 or threads,"));
  EXPECT_THAT(message(""), HasSubstr("comm kernel '' is not in the catalog"));
  EXPECT_THAT(message("1,2,3"), HasSubstr("has 3 fields, expected threads,registers,static,dynamic,cluster"));
  EXPECT_THAT(message("1,2,3,4,5,6"), HasSubstr("has 6 fields"));
  EXPECT_THAT(message("0,96,0,0,1"), HasSubstr("threads is '0', expected a whole number from 1"));
  EXPECT_THAT(message("544,96x,0,0,1"), HasSubstr("registers is '96x'"));
  EXPECT_THAT(message("544,96,-1,0,1"), HasSubstr("static is '-1', expected a size in bytes"));
  EXPECT_THAT(message("544,96,0,1.5K,1"), HasSubstr("dynamic is '1.5K'"));
  EXPECT_THAT(message("544,96,0,0,"), HasSubstr("cluster is ''"));
  EXPECT_THAT(message("99999999999,96,0,0,1"), HasSubstr("threads is '99999999999'"));
}

// Rules of a run are read by a library that takes nothing of model/.
static_assert(kGreatestCommBlocks.count() == run::kGreatestCommBlocks);

}  // namespace
}  // namespace elbowroom
