// Steps whose ranks do different things, on real devices: groups of ranks, operations of some ranks, sends, several lanes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "elbowroom/model/step.hpp"
#include "elbowroom/plan/lower.hpp"
#include "elbowroom/plan/order_check.hpp"
#include "elbowroom/plan/program.hpp"
#include "elbowroom/trace/timeline.hpp"
#include "live_gpu.hpp"

namespace elbowroom {
namespace {

constexpr const char* kGelu = R"("compute": {"kernel": "elementwise", "op": "gelu", "dtype": "f32", "bytes": "16M"})";
constexpr const char* kGemm = R"("compute": {"kernel": "library_gemm", "m": 1024, "n": 1024, "k": 1024, "dtype": "bf16"})";

/// Two stages, two replicas where there are four GPUs: what goes to the next stage and back, and gradients.
std::string stages(const std::string& replicas) {
  return fmt::format(R"({{"name": "front", "at": {{"pp": 0}}, {0}}},
    {{"name": "act", "send_recv": {{"bytes": "8M", "dtype": "bf16"}}, "group": "pp", "from": 0, "to": 1, "after": ["front"]}},
    {{"name": "head", "at": {{"pp": 1}}, "after": ["act"], {1}}},
    {{"name": "back", "send_recv": {{"bytes": "6M", "dtype": "f32"}}, "group": "pp", "from": 1, "to": 0, "after": ["head"]}},
    {{"name": "last", "at": {{"pp": 0}}, "after": ["back"], {0}}},
    {{"name": "grad", "collective": {{"op": "all_reduce", "bytes": "16M", "dtype": "bf16"}}{2}, "after": ["head", "front"]}})",
                     kGelu, kGemm, replicas);
}

Step step_of_text(const std::string& ranks, const std::string& operations) {
  const std::string text =
      fmt::format(R"({{"schema": "elbowroom.step/1", "name": "mine", "repeats": 3, {}, "operations": [{}]}})", ranks, operations);
  const Result<Step> step = parse_step(text, "step");
  EXPECT_TRUE(step) << step.error().message;
  if (!step) { return {}; }
  const Status valid = validate(*step);
  EXPECT_TRUE(valid) << valid.error().message;
  return *step;
}

std::vector<OverlapPlan> plans() {
  OverlapPlan budget;
  budget.priority = true;
  budget.comm_blocks = Blocks(4);
  return {OverlapPlan(), budget};
}

class LiveSteps : public ::testing::Test {
 protected:
  /// Runs and records the step in every way; skips the test where there are fewer devices than ranks.
  void holds(const Step& step, const std::vector<OverlapPlan>& under = plans()) {
    SCOPED_TRACE(to_json(step, -1));
    const auto backend = testing::live_backend(step.ranks);
    if (!backend) { return; }
    const Result<std::unique_ptr<Workload>> workload = backend->prepare(step);
    ASSERT_TRUE(workload) << workload.error().message;
    for (const OverlapPlan& plan : under) {
      for (const Order order : {Order::sequential, Order::concurrent}) {
        SCOPED_TRACE(fmt::format("{}, {}", in_words(plan), to_string(order)));
        if (plan.launch_gate && order != Order::concurrent) { continue; }
        const Result<Program> program = lower(step, order, plan);
        ASSERT_TRUE(program) << program.error().message;
        const Status verified = (*workload)->verify(*program);
        ASSERT_TRUE(verified) << verified.error().message;
        if (order == Order::concurrent) { in_order(step, *program, **workload); }
      }
    }
  }

 private:
  static void in_order(const Step& step, const Program& program, Workload& workload) {
    const Result<Timeline> timeline = workload.record(program);
    if (!timeline && timeline.error().kind == ErrorKind::unavailable) {
      return;  // no recorder: what was received is right all the same
    }
    ASSERT_TRUE(timeline) << timeline.error().message;
    const Status kept = check_order(step, program, *timeline);
    EXPECT_TRUE(kept) << kept.error().message;
  }
};

TEST_F(LiveSteps, StagesOnTwoDevicesSendAndReduce) { holds(step_of_text(R"("mesh": {"pp": 2})", stages(""))); }

TEST_F(LiveSteps, ReplicasOfStagesReduceAlongTheirAxis) {
  holds(step_of_text(R"("mesh": {"dp": 2, "pp": 2})", stages(R"(, "group": "dp")")));
  holds(step_of_text(R"("mesh": {"pp": 2, "dp": 4})", stages(R"(, "group": ["pp", "dp"])")));
}

TEST_F(LiveSteps, AGateHoldsWhatCouldRunBesideASendBack) {
  OverlapPlan gated;
  gated.priority = gated.launch_gate = true;
  gated.comm_blocks = Blocks(4);
  const std::string operations = fmt::format(R"({{"name": "work", {0}}},
    {{"name": "sum", "collective": {{"op": "broadcast", "root": 1, "bytes": "24M", "dtype": "bf16"}}, "after": ["work"]}},
    {{"name": "beside", "after": ["work"], {0}}},
    {{"name": "back", "send_recv": {{"bytes": "8M", "dtype": "bf16"}}, "group": "pp", "from": 1, "to": 0, "after": ["beside"]}},
    {{"name": "more", "after": ["beside"], {0}}})",
                                             kGelu);
  holds(step_of_text(R"("mesh": {"pp": 2})", operations), {gated});
}

TEST_F(LiveSteps, AGroupsOwnOrderOfRanksDecidesWhoSends) {
  // Rank 0 of the group is device 1: its data is what all get, what it sends is what device 0 receives.
  const std::string turned = R"("ranks": 2, "groups": [{"name": "turned", "ranks": [1, 0]}])";
  holds(step_of_text(
      turned, R"({"name": "b", "collective": {"op": "broadcast", "root": 0, "bytes": "24M", "dtype": "bf16"}, "group": "turned"},
    {"name": "v", "collective": {"op": "all_to_all_v", "shares": [1, 2.5], "bytes": "24M", "dtype": "f32"}, "group": "turned"},
    {"name": "g", "collective": {"op": "all_gather", "bytes": "24M", "dtype": "bf16"}, "group": "turned"},
    {"name": "s", "send_recv": {"bytes": "24M", "dtype": "bf16"}, "group": "turned", "from": 0, "to": 1})"));
}

TEST_F(LiveSteps, LanesOfTheirOwnHaveCommunicatorsOfTheirOwn) {
  holds(step_of_text(R"("mesh": {"tp": 2})", fmt::format(R"({{"name": "work", {0}}},
    {{"name": "sum", "lane": "one", "collective": {{"op": "all_reduce", "bytes": "24M", "dtype": "bf16"}}, "after": ["work"]}},
    {{"name": "to", "lane": "two", "send_recv": {{"bytes": "24M", "dtype": "bf16"}}, "group": "tp",
      "from": 0, "to": 1, "after": ["work"]}},
    {{"name": "fro", "lane": "two", "send_recv": {{"bytes": "24M", "dtype": "bf16"}}, "group": "tp",
      "from": 1, "to": 0, "after": ["work"]}},
    {{"name": "next", "after": ["sum@-1"], {0}}})",
                                                         kGelu)));
}

TEST_F(LiveSteps, WhatIsOfSomeDevicesLeavesTheOthersAlone) {
  const Step step = step_of_text(R"("mesh": {"pp": 2})", fmt::format(R"({{"name": "front", "at": {{"pp": 1}}, {}}})", kGelu));
  const auto backend = testing::live_backend(2);
  if (!backend) { return; }
  const Result<std::unique_ptr<Workload>> workload = backend->prepare(step);
  ASSERT_TRUE(workload) << workload.error().message;
  const Result<Timeline> timeline = (*workload)->record(*lower(step, Order::compute_only, {}));
  if (!timeline && timeline.error().kind == ErrorKind::unavailable) { GTEST_SKIP() << timeline.error().message; }
  ASSERT_TRUE(timeline) << timeline.error().message;
  int kernels = 0;
  for (const Span& span : timeline->spans) {
    if (span.kind != SpanKind::compute) { continue; }
    EXPECT_EQ(span.device, 1) << span.name;
    ++kernels;
  }
  EXPECT_EQ(kernels, step.repeats);
}

}  // namespace
}  // namespace elbowroom
