// What one process of several makes of a step: its own ranks, its communicators, its clock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backend_gpu/communicator_keys.hpp"
#include "backend_gpu/meeting.hpp"
#include "backend_gpu/ranks_here.hpp"
#include "elbowroom/plan/launch_settings.hpp"
#include "elbowroom/plan/program.hpp"
#include "unit/trace/spans.hpp"

namespace elbowroom::gpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::span;

const RanksHere kRankTwo{{2, 5}};  // rank 2 of the step, on GPU 5

TEST(RanksHere, AGroupHasThePlacesOfThoseHere) {
  const Group all = group_of({0, 1}, {{0, 0}, {1, 1}});
  EXPECT_TRUE(all.is_here());
  ASSERT_EQ(all.here.size(), 2U);
  EXPECT_EQ(all.here[1].rank, 1);
  EXPECT_EQ(all.here[1].at, 1U);
  EXPECT_EQ(all.here[1].device, 1);

  // Rank 2 of the step is the second of the communicator; it is the first rank here.
  const Group some = group_of({0, 2, 4}, kRankTwo);
  EXPECT_FALSE(some.is_here());
  EXPECT_EQ(some.size(), 3);
  ASSERT_EQ(some.here.size(), 1U);
  EXPECT_EQ(some.here[0].rank, 1);
  EXPECT_EQ(some.here[0].at, 0U);
  EXPECT_EQ(some.here[0].device, 5);

  EXPECT_THAT(group_of({1, 3}, kRankTwo).here, IsEmpty());
}

std::vector<std::string> words(const std::vector<CommBudget>& budgets) {
  std::vector<std::string> words;
  for (const CommBudget& budget : budgets) {
    words.push_back(budget.copy_engine ? "copies" : budget.comm_blocks ? std::to_string(budget.comm_blocks->count()) : "kernels");
  }
  return words;
}

CommSettings settings(std::optional<Blocks> blocks, bool copy_engine, bool peer_detour) {
  CommSettings settings;
  settings.comm_blocks = blocks;
  settings.copy_engine = copy_engine;
  settings.peer_detour = peer_detour;
  return settings;
}

TEST(Budgets, AreThoseOfKernelsAndOfCopies) {
  EXPECT_THAT(words(budgets_of(CollectiveOp::all_reduce, settings(Blocks(8), false, false))), ElementsAre("8"));
  EXPECT_THAT(words(budgets_of(CollectiveOp::all_gather, settings({}, true, false))), ElementsAre("copies"));
  // Copy engines cannot add: half of an all-reduce is a kernel's.
  EXPECT_THAT(words(budgets_of(CollectiveOp::all_reduce, settings(Blocks(4), true, false))), ElementsAre("4", "copies"));
  // A detour's copies are our own; the library is asked whether it may copy.
  EXPECT_THAT(words(budgets_of(CollectiveOp::all_gather, settings({}, true, true))), ElementsAre("copies"));
}

/// Two by two ranks; the first collective along dp, the second along pp.
Step two_by_two() {
  const Result<Step> step = parse_step(R"({"schema": "elbowroom.step/1", "name": "s", "mesh": {"dp": 2, "pp": 2}, "operations": [
    {"name": "a", "collective": {"op": "all_reduce", "bytes": "16K", "dtype": "bf16"}, "group": "dp"},
    {"name": "b", "collective": {"op": "all_reduce", "bytes": "16K", "dtype": "bf16"}, "group": "pp"}]})",
                                       "test");
  EXPECT_TRUE(step) << step.error().message;
  return step ? *step : Step();
}

Launch launch(int operation, int lane, std::optional<Blocks> blocks = {}) {
  Launch launch;
  launch.operation = operation;
  launch.lane = lane;
  launch.settings = settings(blocks, false, false);
  return launch;
}

std::vector<std::string> words(const std::vector<CommKey>& keys) {
  std::vector<std::string> words;
  for (const CommKey& key : keys) {
    std::string word = std::to_string(key.lane) + ":";
    for (const int rank : key.ranks) { word += " " + std::to_string(rank); }
    words.push_back(word + (key.budget.comm_blocks ? " of " + std::to_string(key.budget.comm_blocks->count()) : ""));
  }
  return words;
}

TEST(CommunicatorKeys, AreInTheOrderOfTheProgramOnEveryRank) {
  // Ranks are numbered with dp slowest: along dp {0, 2} and {1, 3}, along pp {0, 1} and {2, 3}. Lane 2 communicates first.
  Program program;
  program.lanes.resize(3);
  program.launches = {launch(1, 2), launch(0, 1), launch(0, 1), launch(0, 1, Blocks(8))};
  EXPECT_THAT(comm_lanes_of(program), ElementsAre(-1, 1, 0));
  EXPECT_THAT(words(communicator_keys(two_by_two(), program)),
              ElementsAre("0: 0 1", "0: 2 3", "1: 0 2", "1: 1 3", "1: 0 2 of 8", "1: 1 3 of 8"));
}

TEST(Meeting, ItsEndIsTheOriginOfARecording) {
  // GPU 5 met others from 100 to 130; what it ran from 140 to 200 is at 10 to 70 on rank 2.
  const Timeline recorded{Provenance::measured,
                          {span(SpanKind::compute, 5, 140, 200), span(SpanKind::communication, 5, 100, 130),
                           span(SpanKind::communication, 5, 150, 160), span(SpanKind::compute, 0, 90, 95)}};
  const Result<Timeline> made = from_meeting(recorded, kRankTwo);
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_EQ(made->spans.size(), 2U);
  EXPECT_EQ(made->spans[0].device, 2);
  EXPECT_EQ(made->spans[0].begin, Nanoseconds(10));
  EXPECT_EQ(made->spans[0].end, Nanoseconds(70));
  EXPECT_EQ(made->spans[1].begin, Nanoseconds(20));
}

TEST(Meeting, ARecordingWithoutOneIsRefused) {
  const auto refused = [](std::vector<Span> spans) {
    const Result<Timeline> made = from_meeting({Provenance::measured, std::move(spans)}, kRankTwo);
    return made ? "" : made.error().message;
  };
  EXPECT_EQ(refused({}), "kernel records: GPU 5 has none of how its run began");
  EXPECT_EQ(refused({span(SpanKind::compute, 5, 1, 2), span(SpanKind::communication, 5, 3, 4)}),
            "kernel records: GPU 5 has none of how its run began");
}

}  // namespace
}  // namespace elbowroom::gpu
