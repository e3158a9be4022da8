#include "elbowroom/plan/sweep_axis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "elbowroom/plan/control_site.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "elbowroom/plan/plan_text.hpp"
#include "unit/plan/sites.hpp"

namespace elbowroom {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

std::string refusal(std::string_view text) {
  const auto axes = parse_sweep(text);
  return axes ? "accepted" : axes.error().message;
}

TEST(SweepAxis, HasValuesOfItsOwnOrAllThatCanAct) {
  const auto axes = parse_sweep("blocks_per_sm,comm_blocks=off:4:16");
  ASSERT_TRUE(axes) << axes.error().message;
  EXPECT_THAT(*axes, ElementsAre(SweepAxis{"blocks_per_sm", {}}, SweepAxis{"comm_blocks", {"off", "4", "16"}}));
  const ControlSite site = testing::elementwise_site();
  const auto caps = values_at(axes->front(), site, {});
  ASSERT_TRUE(caps);
  EXPECT_EQ(caps->front(), "1");
  EXPECT_EQ(caps->back(), "off");  // a kernel without a cap has more blocks than any cap gives it
  EXPECT_THAT(*values_at({"priority", {}}, site, {}), ElementsAre("off", "on"));
  EXPECT_EQ(caps->size(), control("blocks_per_sm").values(site, {})->size() + 1);
  EXPECT_THAT(*values_at(axes->back(), site, {}), ElementsAre("off", "4", "16"));
}

TEST(SweepAxis, TakesRanges) {
  EXPECT_THAT(parse_sweep("comm_blocks=1..4")->front().values, ElementsAre("1", "2", "3", "4"));
  EXPECT_THAT(parse_sweep("comm_blocks=off:4..16+6:32")->front().values, ElementsAre("off", "4", "10", "16", "32"));
  // 1G is the last one: 2G would be beyond it.
  EXPECT_THAT(parse_sweep("collective.bytes=128M..1G*2")->front().values, ElementsAre("128M", "256M", "512M", "1G"));
  EXPECT_THAT(parse_sweep("compute.k=1000..5000*2")->front().values, ElementsAre("1000", "2000", "4000"));
  EXPECT_THAT(parse_sweep("collective.bytes=4611686018427387904..4611686018427387904*2")->front().values.size(), 1U);
}

TEST(SweepAxis, TakesSwitches) {
  EXPECT_THAT(parse_sweep("priority=off:on")->front().values, ElementsAre("off", "on"));
  EXPECT_EQ(refusal("priority=2"), "priority: \"2\", expected on or off");
}

TEST(SweepAxis, RefusesInOneLine) {
  EXPECT_THAT(refusal(""), StartsWith("\"\", expected one of blocks_per_sm, priority, "));
  EXPECT_THAT(refusal("speed=1"), StartsWith("\"speed\", expected one of "));
  EXPECT_EQ(refusal("compute.m"), "compute.m: no values, expected compute.m=A:B:C");
  EXPECT_EQ(refusal("comm_blocks="), "comm_blocks: \"\", expected off or a number from 0 to 65536");
  EXPECT_EQ(refusal("comm_blocks=8:8"), "comm_blocks: 8: given twice, expected once");
  EXPECT_EQ(refusal("comm_blocks=08:8"), "comm_blocks: 8: given twice, expected once");
  EXPECT_EQ(refusal("comm_blocks=70000"), "comm_blocks: \"70000\", expected off or a number from 0 to 65536");
  EXPECT_EQ(refusal("comm_blocks,comm_blocks=4"), "comm_blocks: given twice, expected once");
  EXPECT_EQ(refusal("comm_blocks=1,cluster=1,priority"),
            "priority: one axis more, expected at most 2 (values stand behind =, by colon)");
  EXPECT_EQ(refusal("comm_blocks=1..65"), "comm_blocks: \"1..65\", expected at most 64 values");
  EXPECT_EQ(refusal("comm_blocks=1..64:70"), "comm_blocks: expected at most 64 values");
  for (const char* range : {"8..1", "..8", "1..", "1..8+0", "1..8*1", "0..8*2", "1..8-1", "1..8+"}) {
    EXPECT_EQ(refusal(std::string("comm_blocks=") + range),
              std::string("comm_blocks: \"") + range + "\", expected a range as 1..8, 4..32+4 or 64M..1G*2");
  }
  EXPECT_EQ(refusal("compute.m=\n"), "compute.m: \"\\n\", expected a number, a size or a word");
}

TEST(SweepAxis, ChangesOneMemberOfTheScenario) {
  Scenario scenario{"gelu",
                    2,
                    8,
                    Pattern::pipeline,
                    Elementwise{ElementwiseOp::gelu, DataType::f32, mebibytes(64)},
                    {CollectiveOp::all_reduce, mebibytes(32), DataType::bf16, std::nullopt, std::nullopt}};
  const auto larger = with_member(scenario, {"collective.bytes", {}}, "64M");
  ASSERT_TRUE(larger) << larger.error().message;
  Scenario expected = scenario;
  expected.collective.bytes = mebibytes(64);
  EXPECT_EQ(*larger, expected);
  EXPECT_EQ(with_member(scenario, {"iterations", {}}, "3")->iterations, 3);
  const auto none = with_member(scenario, {"compute.m", {}}, "64");  // an elementwise kernel has no m
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, StartsWith("gelu: compute"));
  EXPECT_THAT(with_member(scenario, {"gpus", {}}, "4097").error().message, StartsWith("gelu: gpus: 4097, expected "));
}

TEST(SweepAxis, BecomesASettingOfAPlan) {
  std::vector<ControlSetting> settings;
  add_setting(settings, {"comm_blocks", {}}, "off");
  EXPECT_TRUE(settings.empty());
  add_setting(settings, {"comm_blocks", {}}, "8");
  add_setting(settings, {"priority", {}}, "on");
  ASSERT_EQ(settings.size(), 2U);
  EXPECT_EQ(settings[0].value, 8);
  EXPECT_FALSE(settings[1].value);
}

RC_GTEST_PROP(SweepAxisProperty, ARangeHoldsItsFirstValueAndNothingBeyondItsLast, ()) {
  const int first = *rc::gen::inRange(0, 200);
  const int last = first + *rc::gen::inRange(0, 60);
  const int step = *rc::gen::inRange(1, 70);
  const auto axes = parse_sweep("compute.k=" + std::to_string(first) + ".." + std::to_string(last) + "+" + std::to_string(step));
  RC_ASSERT(axes);
  const std::vector<std::string>& values = axes->front().values;
  RC_ASSERT(values.front() == std::to_string(first));
  RC_ASSERT(std::stoi(values.back()) <= last);
  RC_ASSERT(std::stoi(values.back()) + step > last);
  RC_ASSERT(values.size() == static_cast<std::size_t>((last - first) / step) + 1);
}

}  // namespace
}  // namespace elbowroom
