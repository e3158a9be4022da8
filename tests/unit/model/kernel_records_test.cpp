#include "model/kernel_records.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "elbowroom/model/device_catalog.hpp"

namespace elbowroom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

KernelRecord record(std::string name, std::string architecture, std::int64_t registers, std::int64_t shared) {
  return {std::move(name), std::move(architecture), Registers(registers), Bytes(shared), Bytes(0), std::nullopt};
}

// Of a kernel with 4,096 B of its own: what ptxas calls 4,096 is 5,120 to cuobjdump from sm_90 on. `plain` has dynamic memory
// alone.
constexpr std::string_view kUsage = R"(
Fatbin elf code:
================
arch = sm_80
code version = [1,8]

Resource usage:
 Common:
  GLOBAL:0
 Function _Z7boundedPf:
  REG:10 STACK:0 SHARED:4096 LOCAL:0 CONSTANT[0]:360 TEXTURE:0 SURFACE:0 SAMPLER:0

Fatbin elf code:
================
arch = sm_90

Resource usage:
 Function _Z5plainPf:
  REG:14 STACK:0 SHARED:1024 LOCAL:0 CONSTANT[0]:536 TEXTURE:0 SURFACE:0 SAMPLER:0
 Function _Z7boundedPf:
  REG:10 STACK:0 SHARED:5120 LOCAL:0 CONSTANT[0]:536 TEXTURE:0 SURFACE:0 SAMPLER:0
 Function _Z6calledv:
  REG:0 STACK:0 SHARED:0 LOCAL:0 CONSTANT[0]:0 TEXTURE:0 SURFACE:0 SAMPLER:0
)";

TEST(KernelRecords, OfCuobjdumpCountWhatTheDriverReserves) {
  const Result<std::vector<KernelRecord>> records = parse_resource_usage(kUsage, "");
  ASSERT_TRUE(records.ok()) << records.error().message;
  EXPECT_THAT(*records, ElementsAre(record("_Z7boundedPf", "sm_80", 10, 4'096), record("_Z5plainPf", "sm_90", 14, 0),
                                    record("_Z7boundedPf", "sm_90", 10, 4'096)));
}

TEST(KernelRecords, OfALoneCubinHaveItsArchitecture) {
  const std::string_view text = "\nResource usage:\n Function k:\r\n  REG:96 STACK:0 SHARED:37824 LOCAL:0\n";
  EXPECT_THAT(*parse_resource_usage(text, "sm_100"), ElementsAre(record("k", "sm_100", 96, 36'800)));
  EXPECT_THAT(*parse_resource_usage(text, "sm_86"), ElementsAre(record("k", "sm_86", 96, 37'824)));
}

TEST(KernelRecords, OfPtxasDoNot) {
  const Result<std::vector<KernelRecord>> records = parse_ptxas_log(
      "nvcc warning : something\n"
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function '_Z5plainPf' for 'sm_90a'\n"
      "ptxas info    : Function properties for _Z5plainPf\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 14 registers, used 1 barriers\n"
      "ptxas info    : Compiling entry function '_Z7boundedPf' for 'sm_90a'\n"
      "ptxas info    : Used 10 registers, used 1 barriers, 4096 bytes smem, 360 bytes cmem[0]\n");
  ASSERT_TRUE(records.ok()) << records.error().message;
  EXPECT_THAT(*records, ElementsAre(record("_Z5plainPf", "sm_90a", 14, 0), record("_Z7boundedPf", "sm_90a", 10, 4'096)));
}

TEST(KernelRecords, AreRefusedWhereThereIsNone) {
  for (const std::string_view text :
       {"", "\n\n", "Function k:\n  REG:4 ", " Function k:\n  REG:-4 SHARED:0 ", "REG:4 SHARED:0 \n"}) {
    EXPECT_FALSE(parse_resource_usage(text, "").ok()) << text;
  }
  for (const std::string_view text : {"", "Used 14 registers\n", "Compiling entry function 'k' for 'sm_90'\nUsed registers\n"}) {
    EXPECT_FALSE(parse_ptxas_log(text).ok()) << text;
  }
  EXPECT_FALSE(parse_amd_code_object("").ok());
  EXPECT_FALSE(parse_amd_code_object("\x7f"
                                     "ELF")
                   .ok());
  EXPECT_EQ(cubin_architecture("\x7f"
                               "ELF"),
            "");
}

TEST(RunnableCode, IsTheNewestThatIsNotNewerThanTheDevice) {
  const auto on = [](const char* device, const std::vector<KernelRecord>& records) {
    const Result<std::vector<KernelRecord>> runnable = runnable_on(*find_device(device), records);
    return runnable ? runnable->front().architecture : runnable.error().message;
  };
  const std::vector<KernelRecord> many{record("k", "sm_80", 10, 0), record("k", "sm_86", 11, 0), record("k", "sm_90", 12, 0),
                                       record("k", "sm_90a", 13, 0), record("k", "sm_100f", 14, 0)};
  EXPECT_EQ(on("a100", many), "sm_80");
  EXPECT_EQ(on("a40", many), "sm_86");
  EXPECT_EQ(on("l40s", many), "sm_86");  // sm_89
  EXPECT_EQ(on("b200", many), "sm_100f");
  EXPECT_EQ(on("t4", many), "code for sm_100f, sm_80, sm_86, sm_90, sm_90a, expected some that t4 (sm_75) runs");
  EXPECT_EQ(on("gb10", {record("k", "sm_120a", 10, 0), record("k", "sm_120", 10, 0)}), "sm_120");
  EXPECT_EQ(on("mi300x", {record("k", "gfx942", 10, 0)}), "gfx942");
  EXPECT_EQ(on("mi300x", {record("k", "", 10, 0)}), "");
  EXPECT_THAT(on("mi300x", {record("k", "gfx90a", 10, 0)}), HasSubstr("expected some that mi300x (gfx942) runs"));
}

}  // namespace
}  // namespace elbowroom
