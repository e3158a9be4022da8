#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "elbowroom/report/run_closing.hpp"

namespace elbowroom {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using Bits = ClosingFacts::Bits;
using Steps = ClosingFacts::Steps;

constexpr Microseconds ms(double count) { return Microseconds(count * 1'000); }

// 64.9 / 70.3 = 0.9232, so 7.7 % less. 20.28 / 20.47 = 0.9907: the difference of 0.19 ms has its second digit at 0.01 ms.
TEST(ClosingWords, LeadWithTheGainAndSayWhetherStepsTookTurns) {
  ClosingFacts facts{
      .kept = {
          {.what = "FSDP2 staging buffers on symmetric memory", .steps = Steps{ms(70.3), ms(64.9)}, .may_change = Bits::sums}}};
  EXPECT_EQ(closing_line(facts),
            "elbowroom: about 64.9 ms a step instead of 70.3 (-7.7 %): FSDP2 staging buffers on symmetric memory; sums may "
            "differ in their last bits");
  facts.kept[0].extra_bytes = 1'990'656;  // 1.9 * 2^20
  EXPECT_THAT(closing_line(facts), EndsWith("symmetric memory; +2 MiB on each GPU; sums may differ in their last bits"));
  facts.kept[0].extra_bytes = 1'417'625'600;  // 1.32 * 2^30
  EXPECT_THAT(closing_line(facts), EndsWith("symmetric memory; +1.3 GiB on each GPU; sums may differ in their last bits"));
  facts = {.kept = {{.what = "priority, gate", .steps = Steps{ms(20.47), ms(20.28), true}}}};
  EXPECT_EQ(closing_line(facts), "elbowroom: 20.28 ms a step instead of 20.47 (-0.9 %): priority, gate");
}

// A step of 412 us is no 0.4 ms; 0.2 ms of 100 are less than 0.5 %, which eight steps do not show.
TEST(ClosingWords, KeepTheUnitOfShortStepsAndCallNoNoiseAGain) {
  EXPECT_EQ(closing_line({.kept = {{.what = "priority", .steps = Steps{ms(0.412), ms(0.4), true}}}}),
            "elbowroom: 400.0 us a step instead of 412.0 (-2.9 %): priority");
  EXPECT_EQ(closing_line({.kept = {{.what = "DDP buckets on symmetric memory", .steps = Steps{ms(100), ms(99.8)}}}}),
            "elbowroom: no difference seen, about 99.80 ms a step and 100.00 before: DDP buckets on symmetric memory");
}

TEST(ClosingWords, SayMoreWhereThereIsRoom) {
  const ClosingFacts facts{
      .kept = {{.what = "priority, sm_target", .steps = Steps{ms(50), ms(45), true}, .may_change = Bits::products},
               {.what = "budget 8", .steps = Steps{ms(46), ms(45), true}, .may_change = Bits::sums}},
      .left_alone = {std::string(60, 'x'), "y"}};
  EXPECT_EQ(closing_line(facts),
            "elbowroom: 45.0 ms a step instead of 50.0 (-10.0 %): priority, sm_target; sums and products may differ in their last "
            "bits; budget 8 (-2.2 %); y");
}

TEST(ClosingWords, SayWhyNothingChangedAndWhatMayHelp) {
  EXPECT_EQ(closing_line({}), "elbowroom: nothing changed");
  EXPECT_EQ(closing_line({.left_alone = {"no GPU", "no NCCL"}, .option = "--set x=1"}),
            "elbowroom: nothing changed: no GPU; --set x=1 may help; no NCCL");
  EXPECT_EQ(closing_line({.left_alone = {"no report"}, .unknown = true}), "elbowroom: not known what changed: no report");
}

// Reasons repeat what libraries and programs say: any length, any byte.
TEST(ClosingWords, StayOneLineOfAtMost160Bytes) {
  const std::string longest = closing_line({.left_alone = {std::string(500, 'a')}, .option = "--set x=1"});
  EXPECT_EQ(longest.size(), kLongestClosingLine);
  EXPECT_THAT(longest, EndsWith("aaa...; --set x=1 may help"));
  std::string umlauts;
  for (int i = 0; i < 100; ++i) { umlauts += "\xC3\xBC"; }
  for (const std::string& before : {std::string(), std::string("a")}) {  // a cut within a character would come in one of the two
    const std::string cut = closing_line({.left_alone = {before + umlauts}});
    EXPECT_LE(cut.size(), kLongestClosingLine);
    EXPECT_THAT(cut, EndsWith("\xBC..."));
  }
  EXPECT_EQ(closing_line({.left_alone = {"two\nlines\x1b[2J"}}), "elbowroom: nothing changed: two lines [2J");
  const std::string what(500, 'w');
  const std::string kept =
      closing_line({.kept = {{.what = what, .steps = Steps{ms(2), ms(1)}, .may_change = Bits::sums, .extra_bytes = 1}}});
  EXPECT_EQ(kept.size(), kLongestClosingLine);
  EXPECT_THAT(kept, EndsWith("ww...; +1 MiB on each GPU; sums may differ in their last bits"));
  EXPECT_THAT(closing_line({.kept = {{.what = "w"}, {.what = what}}}), Not(HasSubstr("ww")));
}

}  // namespace
}  // namespace elbowroom
