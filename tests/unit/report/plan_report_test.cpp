#include "elbowroom/report/plan_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "elbowroom/model/device_catalog.hpp"

namespace elbowroom {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

PlanReport report(std::string_view device_name, const KernelFootprint& kernel, std::string_view comm) {
  const Result<DeviceLimits> device = find_device(device_name);
  return *make_plan_report(*device, kernel, *find_comm_kernel(comm, *device));
}

const KernelFootprint kSimtGemm{Threads(256), Registers(56), Bytes(4'096), Bytes(0), 1};
const KernelFootprint kTiny{Threads(128), Registers(16), Bytes(0), Bytes(0), 1};
const KernelFootprint kPersistentGemm{Threads(384), Registers(168), Bytes(0), Bytes(213'188), 1};

TEST(PlanJson, HasTheFieldsOfTheContract) {
  const Json document = Json::parse(plan_json(report("h200", kSimtGemm, "nccl-2.28:544")));
  EXPECT_EQ(document.at("schema"), "elbowroom.plan/1");
  EXPECT_EQ(document.at("device").at("name"), "h200");
  EXPECT_EQ(document.at("device").at("shared_per_sm"), 233'472);
  EXPECT_EQ(document.at("kernel").at("threads"), 256);
  EXPECT_EQ(document.at("kernel").at("static_shared"), 4'096);
  EXPECT_EQ(document.at("comm").at("name"), "nccl-2.28:544");
  EXPECT_EQ(document.at("comm").at("cluster"), 4);
  ASSERT_TRUE(document.at("residencies").is_array());
  ASSERT_EQ(document.at("residencies").size(), 4U);
}

TEST(PlanJson, GivesThePadRangesOfASimtGemmOnH200) {
  const Json rows = Json::parse(plan_json(report("h200", kSimtGemm, "nccl-2.28:544"))).at("residencies");
  EXPECT_EQ(rows[0].at("blocks_per_sm"), 4);
  EXPECT_EQ(rows[0].at("pad_min"), 0);
  EXPECT_EQ(rows[0].at("limited_by"), "registers");
  const Json row = rows[1];
  EXPECT_EQ(row.at("blocks_per_sm"), 3);
  EXPECT_EQ(row.at("pad_min"), 53'376);
  EXPECT_EQ(row.at("pad_max"), 72'704);
  EXPECT_EQ(row.at("limited_by"), "shared_memory");
  EXPECT_EQ(row.at("comm_fits"), false);
  EXPECT_EQ(row.at("comm_blocked_by"), Json::array({"registers", "shared_memory"}));
  EXPECT_TRUE(row.at("comm_pad_max").is_null());
  EXPECT_EQ(rows[3].at("pad_min"), 111'744);
  EXPECT_EQ(rows[3].at("comm_blocked_by"), Json::array({"registers"}));
}

TEST(PlanJson, SaysWhereTheCommunicationBlockFits) {
  const Json document = Json::parse(plan_json(report("h200", kTiny, "nccl-2.28:512")));
  const Json row = document.at("residencies").back();
  EXPECT_EQ(row.at("comm_fits"), true);
  EXPECT_EQ(row.at("comm_blocked_by"), Json::array());
  EXPECT_EQ(row.at("comm_pad_max"), 127'616);
  EXPECT_EQ(row.at("gain"), "co_resident");
}

TEST(PlanTable, ReadsAsPeopleCount) {
  const std::string table = plan_table(report("h200", kSimtGemm, "nccl-2.28:544"));
  EXPECT_THAT(table, HasSubstr("NVIDIA H200 SXM"));
  EXPECT_THAT(table, HasSubstr("53,376"));
  EXPECT_THAT(table, HasSubstr("111,616"));
  EXPECT_THAT(table, HasSubstr("drains sooner"));
  EXPECT_THAT(table, HasSubstr("blocked by registers, shared memory"));
}

TEST(PlanTable, HasFewerColumnsWhereItIsNarrow) {
  const PlanReport plan = report("h200", kSimtGemm, "nccl-2.28:544");
  EXPECT_EQ(plan_table(plan, 115), plan_table(plan));
  EXPECT_THAT(plan_table(plan, 80), HasSubstr("        3       53,376       72,704  blocked by registers, shared memory\n"));
}

TEST(PlanTable, SaysWhenNobodyChoseTheCommunicationKernel) {
  PlanReport by_default = report("h200", kSimtGemm, "nccl-2.28:544");
  EXPECT_EQ(plan_table(by_default).find("--comm chooses"), std::string::npos);
  by_default.comm_is_default = true;
  EXPECT_THAT(plan_table(by_default), HasSubstr("nccl-2.28:544 (the newest known, whatever NCCL is here; --comm chooses)"));
  by_default.comm_is_here = true;
  EXPECT_THAT(plan_table(by_default), HasSubstr("nccl-2.28:544 (of the NCCL here, --comm chooses)"));
}

TEST(PlanVerdict, NamesWhatAPadBuys) {
  EXPECT_EQ(
      plan_verdict(report("h200", kSimtGemm, "nccl-2.28:544")),
      "No residency has room for a nccl-2.28:544 block (registers at 1 block per SM): a pad buys SMs that drain sooner and less "
      "memory contention, not co-residence.");
  EXPECT_EQ(plan_verdict(report("h200", kTiny, "nccl-2.28:512")),
            "A pad of 115,840 to 127,616 B holds compute at 1 block per SM and makes room for a nccl-2.28:512 block beside it: "
            "co-residence, if the kernel chooses the largest shared-memory carve-out.");
  // 4 blocks leave 16,384 - 8 x 1,792 = 2,048 registers in each partition, four warps of 512 want one of them each.
  EXPECT_EQ(plan_verdict(report("h200", kSimtGemm, "128,16,0,0,1")),
            "A custom block fits beside 4 blocks per SM as they are: no pad is needed for co-residence.");
}

TEST(PlanVerdict, SaysWhenPaddingCannotAct) {
  EXPECT_EQ(
      plan_verdict(report("h200", kPersistentGemm, "nccl-2.28:544")),
      "Padding cannot lower this residency, and a nccl-2.28:544 block does not fit beside it (registers, shared memory): only "
      "priority and order act.");
}

// 48 KiB are 49,152 B. An SM of the device has more than four times as much; a compiler gives a kernel no more without a launch.
TEST(MakePlanReport, RefusesStaticSharedMemoryThatNoCompilerGives) {
  const auto made = [](const char* device, std::int64_t bytes) {
    const Result<DeviceLimits> limits = find_device(device);
    return make_plan_report(*limits, {Threads(256), Registers(56), Bytes(bytes), Bytes(0), 1},
                            *find_comm_kernel(default_comm_kernel(*limits), *limits));
  };
  EXPECT_TRUE(made("h200", 49'152));
  EXPECT_TRUE(made("mi300x", 65'536));
  const Result<PlanReport> refused = made("h200", 49'153);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "compute kernel: 49,153 B static shared memory, expected at most 49,152 B on h200: more is dynamic");
}

}  // namespace
}  // namespace elbowroom
