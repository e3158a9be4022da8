#include <gtest/gtest.h>

#include <vector>

#include "fake_platform.hpp"
#include "interposer/core/ab_trial.hpp"
#include "interposer/core/rest.hpp"
#include "milliseconds.hpp"

namespace elbowroom::interposer {
namespace {
/// Steps of sixteen collectives beside as many kernels, under `auto`, and hooks that ask first whether a launch is left alone.
class RestingProgram : public Program {
 public:
  RestingProgram() : Program(rules_of(Policy::automatic)) {}

  /// Nothing that `auto` does changes how long a step takes.
  void run(int steps) {
    for (int i = 0; i < steps * 16; ++i) {
      collective = launch(i % 16 == 15 ? kAllGather : kAllReduce, kCommStream);
      now_ns += kMs;
      if (core->leaves_alone(kGemm)) {
        ++left_alone;
        synchronize(kCommStream);
        continue;
      }
      compute = launch(kGemm, kComputeStream);
      synchronize(kCommStream);
      synchronize(kComputeStream);
    }
  }
  [[nodiscard]] bool rests() const { return core->leaves_alone(kGemm); }

  Decision collective;
  Decision compute;
  int left_alone = 0;
};

/// Found after at most 64 collectives; eight rounds of three arms with five steps each; times are known a step later.
constexpr int kTrial = 8 * 3 * 5;
constexpr int kUntilSettled = 4 + kTrial + 2;

TEST(CoreRest, BeginsWhereNothingIsGained) {
  RestingProgram program;
  EXPECT_FALSE(program.rests());
  program.run(kUntilSettled);
  EXPECT_FALSE(program.core->leaves_alone(kAllReduce)) << "collectives count the steps";
  program.left_alone = 0;
  program.run(10);
  EXPECT_EQ(program.left_alone, 160);
  EXPECT_TRUE(program.collective.untouched(0));
  EXPECT_EQ(program.collective.ticket, 0U);
  EXPECT_NE(program.report().find(R"("state":"settled","arm":"plain")"), std::string::npos) << program.report();
  // What is recorded and waited for meanwhile is nobody's business.
  EXPECT_FALSE(program.core->stream_point(kCommStream).any_collective);
}

// Blocks of five steps with each of three arms: the program as it is costs no more in a comparison than after it, the others are
// followed.
TEST(CoreRest, IsForTheProgramAsItIsWhileItIsCompared) {
  RestingProgram program;
  while (program.report().find(R"("state":"trying")") == std::string::npos) { program.run(1); }
  std::vector<int> left_alone;
  for (int block = 0; block < 5; ++block) {
    program.left_alone = 0;
    program.run(5);
    left_alone.push_back(program.left_alone);
  }
  ASSERT_NE(program.report().find(R"("state":"trying")"), std::string::npos) << program.report();
  // 16 kernels a step. A launch before the first one that is left alone is asked about, and a block begins within a step of this
  // test.
  EXPECT_GE(left_alone[0], 60);
  EXPECT_LE(left_alone[1], 16);
  EXPECT_EQ(left_alone[2] + left_alone[3], 0);
}

// What was enqueued before the choice and is not over would be forgotten with the rest.
TEST(CoreRest, WaitsForTheEndOfWhatTheHostMayDo) {
  RestingProgram program;
  program.run(10);
  program.core->on_host_dependency(kOtherComputeStream);
  program.run(kUntilSettled);
  EXPECT_FALSE(program.rests());
  program.synchronize(kOtherComputeStream);
  program.run(2);
  EXPECT_TRUE(program.rests());
}

TEST(CoreRest, CountsWhatItLeavesAlone) {
  RestingProgram program;
  program.run(kUntilSettled);
  const std::uint64_t before = program.core->launches_at_rest();
  program.run(2);
  EXPECT_EQ(program.core->launches_at_rest() - before, 32U);
  const std::string report = program.report();
  // Two launches for each of sixteen repetitions.
  EXPECT_NE(report.find(R"("total":)" + std::to_string((kUntilSettled + 2) * 32) + ","), std::string::npos) << report;
  EXPECT_NE(report.find(R"("at_rest":)" + std::to_string(before + 32)), std::string::npos) << report;
  EXPECT_NE(report.find(R"("count":)" + std::to_string((kUntilSettled + 2) * 15)), std::string::npos)
      << "every all-reduce, fifteen of sixteen collectives: " << report;
}

TEST(CoreRest, EndsWithTheNextComparison) {
  RestingProgram program;
  program.run(kUntilSettled);
  ASSERT_TRUE(program.rests());
  bool compared = false;
  for (int step = 0; step < static_cast<int>(AbTrial::kRecheck + AbTrial::kTurns * AbTrial::kTurn) + kTrial && !compared; ++step) {
    program.run(1);
    compared = program.compute.wait_on != kNoEvent && !program.rests();
  }
  EXPECT_TRUE(compared) << "the gate was never tried again";
  program.run(kUntilSettled);
  EXPECT_TRUE(program.rests());
}

TEST(CoreRest, EndsWhereTheHostMustBeWaitedForOrAGraphIsCaptured) {
  for (const bool captures : {false, true}) {
    RestingProgram program;
    program.run(kUntilSettled);
    ASSERT_TRUE(program.rests());
    if (captures) {
      program.core->on_capture_begin(kOtherComputeStream);
    } else {
      program.core->on_host_dependency(kOtherComputeStream);
    }
    EXPECT_FALSE(program.rests());
    program.run(3);
    EXPECT_FALSE(program.rests()) << "not before the next comparison";
    // Order is followed from here on: the collective is live until it is known finished.
    program.launch(kAllReduce, kCommStream);
    EXPECT_TRUE(program.core->stream_point(kCommStream).any_collective);
  }
}

TEST(CoreRest, WhatWasTakenBeforeItMeansNothingAfterIt) {
  RestingProgram program;
  program.launch(kAllReduce, kCommStream);
  const SyncPoint before = program.core->stream_point(kCommStream);  // a thread that will wait for long
  ASSERT_TRUE(before.any_collective);
  program.run(kUntilSettled);
  ASSERT_TRUE(program.rests());
  program.core->on_host_dependency(kOtherComputeStream);
  for (int i = 0; i < 64; ++i) { program.launch(kAllReduce, kCommStream); }
  const SyncPoint live = program.core->stream_point(kCommStream);
  program.core->on_synchronized(before, program.now_ns);
  const SyncPoint still = program.core->stream_point(kCommStream);
  EXPECT_TRUE(still.any_collective);
  EXPECT_EQ(still.collectives, live.collectives);
  EXPECT_NE(program.core->context_point(kContext).host_actions, 0U) << "still to be waited for";
}

TEST(CoreRest, IsReadAtTheGateOfThePlatform) {
  RestGate gate;
  Rest rest(&gate);
  EXPECT_EQ(gate.known.load(), nullptr);
  rest.remember(kGemm);
  rest.begin();
  ASSERT_NE(gate.known.load(), nullptr);
  EXPECT_EQ(gate.known.load()[RestGate::place(kGemm)], kGemm);
  gate.launches += 2;  // as the entries count
  EXPECT_TRUE(rest.covers(kGemm));
  EXPECT_EQ(rest.launches(), 3U);
  rest.end();
  EXPECT_EQ(gate.known.load(), nullptr);
}

TEST(CoreRest, AsksAgainForFunctionsOfUnloadedModules) {
  RestingProgram program;
  program.run(kUntilSettled);
  ASSERT_TRUE(program.rests());
  program.core->on_module_unload();
  program.fake.names[kGemm] = "ncclDevKernel_AllReduce_Sum_f16_RING_LL";  // the handle has another meaning now
  EXPECT_FALSE(program.rests());
  program.launch(kGemm, kComputeStream);
  EXPECT_FALSE(program.rests());
}

TEST(CoreRest, IsNotForWhoeverWantsMore) {
  for (const Policy policy : {Policy::observe, Policy::priority, Policy::gate}) {
    Program program(rules_of(policy));
    for (int i = 0; i < 64 * 16; ++i) {
      program.launch(kAllReduce, kCommStream);
      program.launch(kGemm, kComputeStream);
      program.now_ns += kMs;
      program.synchronize(kCommStream);
    }
    EXPECT_FALSE(program.core->leaves_alone(kGemm)) << text(policy);
  }
}

}  // namespace
}  // namespace elbowroom::interposer
