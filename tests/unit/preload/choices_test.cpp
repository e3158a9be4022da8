#include "preload/choices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace elbowroom::preload {
namespace {

using detail::RememberedChoice;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Choice = ProcessReport::Trial::Choice;

const ChoiceSurroundings kHere{"580.65", "cap gelu 4"};

/// A process on an H200 that settled for one arm where its collectives repeat one sequence.
ProcessReport settled(Decider decider, const std::string& arm, double gain, std::int64_t decisions) {
  ProcessReport report;
  report.device = "NVIDIA H200";
  report.activity.library.version = 22809;
  report.trial.decides = decider;
  report.trial.choices = {Choice{"00000000000000a1", ArmControls(arm), gain, gain - 1, gain + 1, decisions}};
  return report;
}

TEST(PreloadChoices, KeepWhatAProcessSettledFor) {
  const std::vector<ProcessReport> processes{settled(Decider::each_process, "priority, gate", 3, 2)};
  const detail::NewChoices found = new_choices(processes, kHere, 100);
  ASSERT_EQ(found.kept.size(), 1U);
  const RememberedChoice& kept = found.kept.front();
  EXPECT_EQ(kept.key, (detail::ChoiceKey{"NVIDIA H200", "580.65", 22809, "cap gelu 4", 0xa1}));
  EXPECT_EQ(kept.arm, "priority, gate");
  EXPECT_EQ(kept.gain, 3);
  EXPECT_EQ(kept.low, 2);
  EXPECT_EQ(kept.high, 4);
  EXPECT_EQ(kept.decisions, 2);
  EXPECT_EQ(kept.stored_at, 100);
}

TEST(PreloadChoices, AreWorthTheLeastThatAProcessWhichComparedSays) {
  const std::vector<ProcessReport> processes{settled(Decider::each_process, "priority", 3, 4),
                                             settled(Decider::each_process, "priority", 2, 5)};
  const detail::NewChoices found = new_choices(processes, kHere, 100);
  ASSERT_EQ(found.kept.size(), 1U);
  EXPECT_EQ(found.kept[0].gain, 2);
  EXPECT_EQ(found.kept[0].decisions, 4) << "confirmed as often as the one that compared least";
}

// What the controls were worth knows the process that decides; a follower reports no gain.
TEST(PreloadChoices, OfAFollowerAreWorthWhatTheDeciderSays) {
  const std::vector<ProcessReport> processes{settled(Decider::another_process, "priority", 0, 1),
                                             settled(Decider::this_process, "priority", 3, 1)};
  const detail::NewChoices found = new_choices(processes, kHere, 100);
  ASSERT_EQ(found.kept.size(), 1U);
  EXPECT_EQ(found.kept[0].gain, 3);
}

TEST(PreloadChoices, ThatDifferAreNotKept) {
  const std::vector<ProcessReport> processes{settled(Decider::each_process, "priority", 3, 1),
                                             settled(Decider::each_process, "plain", 0, 1),
                                             settled(Decider::each_process, "priority", 3, 1)};
  const detail::NewChoices found = new_choices(processes, kHere, 100);
  EXPECT_THAT(found.kept, IsEmpty());
  ASSERT_EQ(found.disagreed.size(), 1U);
  EXPECT_EQ(found.disagreed[0].sequence, 0xa1U);
}

TEST(PreloadChoices, OfAProgramAsItIsAreWorthNothing) {
  const std::vector<ProcessReport> processes{settled(Decider::each_process, "plain", 7, 1)};
  EXPECT_EQ(new_choices(processes, kHere, 100).kept.at(0).gain, 0);
}

TEST(PreloadChoices, ThatNoDocumentCouldHoldAreLeftOut) {
  ProcessReport unseen = settled(Decider::each_process, "priority", 3, 1);
  unseen.device.reset();
  ProcessReport unnamed = settled(Decider::each_process, "", 3, 1);
  ProcessReport elsewhere = settled(Decider::each_process, "priority", 3, 1);
  elsewhere.trial.choices[0].sequence = "no key";
  EXPECT_THAT(new_choices(std::vector{unseen, unnamed, elsewhere}, kHere, 100).kept, IsEmpty());
}

TEST(PreloadChoices, AreUsedWhereTheyWereMade) {
  detail::ChoiceMemory memory;
  const auto put = [&](const char* driver, const char* options, run::Key sequence) {
    RememberedChoice choice;
    choice.key = {"NVIDIA H200", driver, 22809, options, sequence};
    choice.arm = "priority";
    choice.decisions = 1;
    memory.put(choice);
  };
  put("580.65", "cap gelu 4", 0xa1);
  put("570.1", "cap gelu 4", 0xa2);
  put("580.65", "", 0xa3);
  put("", "cap gelu 4", 0xa4);
  EXPECT_EQ(choices_text(memory, kHere), "device NVIDIA H200\n00000000000000a1 22809 priority\n");
  EXPECT_EQ(choices_text(memory, {std::nullopt, "cap gelu 4"}), "device NVIDIA H200\n00000000000000a4 22809 priority\n");
}

TEST(ChoiceSurroundings, HoldWhatChangesTheArmsAndHowTheLibraryIsSet) {
  run::Rules rules;
  ASSERT_EQ(run::parse_rules("cap gelu 4\nab off\n", rules), 0U);
  Controls controls;
  controls.comm_library = {{"NCCL_MAX_CTAS", "8"}};
  const Variables environment{{"NCCL_P2P_DISABLE", "1"}, {"NCCL_MAX_CTAS", "16"}, {"NCCL_DEBUG", "INFO"}};
  const ChoiceSurroundings made = choice_surroundings("580.65", rules, controls, environment);
  EXPECT_EQ(made.driver, "580.65");
  EXPECT_EQ(made.options, "cap gelu 4;NCCL_MAX_CTAS=8;NCCL_P2P_DISABLE=1");
  EXPECT_EQ(choice_surroundings(std::nullopt, {}, {}, {}).options, "");
}

TEST(ChoicesFile, LiesInTheCacheOfTheUser) {
  EXPECT_EQ(choices_file({{"XDG_CACHE_HOME", "/cache"}, {"HOME", "/root"}}), "/cache/elbowroom/choices.json");
  EXPECT_EQ(choices_file({{"XDG_CACHE_HOME", "cache"}, {"HOME", "/root"}}), "/root/.cache/elbowroom/choices.json");
  EXPECT_EQ(choices_file({{"HOME", "here"}}), std::nullopt);
  EXPECT_EQ(choices_file({}), std::nullopt);
}

}  // namespace
}  // namespace elbowroom::preload
