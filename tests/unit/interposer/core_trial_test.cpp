#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fake_platform.hpp"
#include "interposer/core/step_marks.hpp"

namespace elbowroom::interposer {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

TEST(CoreTrial, ComparesStepsAndKeepsWhatHelps) {
  for (const bool gate_helps : {true, false}) {
    Program program(rules_of(Policy::automatic));
    bool gated = false;
    // A step of ten collectives, each beside a kernel; gated ones take the step to 8 ms (or 12 ms) instead of 10.
    for (int i = 0; i < 10 * 300; ++i) {
      const Decision collective = program.launch(kAllReduce, kCommStream);
      const Decision compute = program.launch(kGemm, kComputeStream);
      gated = compute.wait_on != kNoEvent;
      EXPECT_LE(gated, collective.completion_event != kNoEvent)
          << "the first of an arm may queue behind one whose end nobody asked for";
      const std::uint64_t in_gated_step = gate_helps ? 800'000 : 1'200'000;
      program.now_ns += gated ? in_gated_step : 1'000'000;
      program.finish(kCommStream, 0);
    }
    EXPECT_EQ(gated, gate_helps);
    EXPECT_NE(program.report().find(R"("ab":{"state":"settled")"), std::string::npos) << program.report();
  }
}

/// What a rank does with each of its collectives (bit 0: priority, bit 1: completion event), when its steps take `times` in turn.
std::vector<int> controls_of_rank(const std::vector<std::uint64_t>& times) {
  Program rank(rules_of(Policy::automatic));
  std::vector<int> controls;
  for (std::size_t i = 0; i < 2'700; ++i) {
    const Decision decision = rank.launch(i % 6 == 5 ? kAllGather : kAllReduce, kCommStream);
    rank.launch(kGemm, kComputeStream);
    controls.push_back((decision.priority ? 1 : 0) + (decision.completion_event != kNoEvent ? 2 : 0));
    rank.now_ns += times[i % times.size()];
  }
  return controls;
}

TEST(CoreTrial, ChangesControlsAtTheSameCollectiveOnEveryRank) {
  const std::vector<int> first = controls_of_rank({1 * kMs});
  const std::vector<int> second = controls_of_rank({2 * kMs, 3 * kMs, 9 * kMs});
  // Found after 24 collectives; steps of 6 collectives, of which no arm is dropped before the 36th; nothing gains on either rank.
  const auto before_a_look = [](const std::vector<int>& rank) {
    return std::vector<int>(rank.begin(), rank.begin() + 24 + 35 * 6);
  };
  EXPECT_EQ(before_a_look(first), before_a_look(second));
  for (const int arm : {0, 1, 3}) { EXPECT_NE(std::find(first.begin(), first.end(), arm), first.end()) << arm; }
  EXPECT_EQ(first.back(), 0);
  EXPECT_EQ(second.back(), 0);
}

/// Tells the core how long the step before took, as a timer would.
struct StepTimer {
  Program& program;
  std::uint64_t step = 0;
  std::uint64_t began = 0;
  int told = 0;

  void begin(const Decision& begun) {
    if (begun.step == 0) { return; }
    EXPECT_EQ(begun.context, kContext) << "no event could be recorded for the step";
    if (begun.step == step + 1) {
      program.core->on_step_time(step, program.now_ns - began);
      ++told;
    }
    step = begun.step;
    began = program.now_ns;
  }
};

// Six launches of a graph of collectives and kernels are a step. No control acts on them: the comparison ends in its second round,
// and the program rests from then on. In its first round each of the two arms that change something is followed for five steps.
TEST(CoreTrial, ComparesStepsThatBeginWithAGraphAndDropsWhatDoesNotActOnIt) {
  Program program(rules_of(Policy::automatic));
  StepTimer timer{program};
  for (int i = 0; i < 6 * 60; ++i) {
    timer.begin(program.launch_unknown(kCommStream));
    program.now_ns += kMs;
    program.finish(kCommStream, 0);
  }
  EXPECT_GT(timer.told, 12);
  EXPECT_LT(timer.told, 40) << "times are awaited while something is compared";
  const std::string report = program.report();
  EXPECT_NE(report.find(R"("ab":{"state":"settled","arm":"plain","collectives_per_repetition":1,"decisions":1)"), std::string::npos)
      << report;
  EXPECT_NE(report.find(R"({"arm":"plain","us":6000.)"), std::string::npos) << report;
  EXPECT_NE(report.find(R"({"arm":"priority","us":0.000)"), std::string::npos) << "it acted on nothing";
}

// A graph begins each step, and five all-reduces outside it follow, each beside a kernel that is faster behind the gate.
TEST(CoreTrial, KeepsWhatHelpsInStepsThatBeginWithAGraph) {
  Program program(rules_of(Policy::automatic));
  StepTimer timer{program};
  bool gated = false;
  for (int i = 0; i < 6 * 200; ++i) {
    if (i % 6 == 0) {
      timer.begin(program.launch_unknown(kCommStream));
      program.now_ns += kMs;
    } else {
      program.tell(program.core->on_launch(program.facts(kAllReduce, kCommStream)).ticket, kCommStream, LaunchOutcome::ok);
      gated = program.launch(kGemm, kComputeStream).wait_on != kNoEvent;
      program.now_ns += gated ? 800'000 : kMs;
    }
    program.finish(kCommStream, 0);
  }
  EXPECT_TRUE(gated);
  EXPECT_NE(program.report().find(R"("arm":"priority, gate","gain_percent":16.6)"), std::string::npos) << program.report();
}

/// Collectives of NCCL 2.28.9, each beside a kernel that is faster behind the gate; for each of them whether the kernel was gated.
std::vector<bool> gates_of(Program& program, int collectives) {
  std::vector<bool> gated;
  for (int i = 0; i < collectives; ++i) {
    LaunchFacts facts = program.facts(kAllReduce, kCommStream);
    facts.note = {.bytes = 1 << 20, .ranks = 2, .library = 22'809};
    const Decision collective = program.launch(facts);
    EXPECT_TRUE(collective.step == 0 || collective.context == kContext) << "no event could be recorded for the step";
    gated.push_back(program.launch(kGemm, kComputeStream).wait_on != kNoEvent);
    program.now_ns += gated.back() ? 800'000 : kMs;
    program.finish(kCommStream, 0);
  }
  return gated;
}

std::string after(const std::string& text, const std::string& key) {
  const std::size_t at = text.find(key);
  return at == std::string::npos ? "" : text.substr(at + key.size(), 16);
}

TEST(CoreTrial, BeginsWithWhatAnEarlierRunSettledFor) {
  Program first(rules_of(Policy::automatic));
  EXPECT_TRUE(gates_of(first, 16 * 150).back());
  const std::string report = first.report();
  EXPECT_NE(report.find(R"("remembered":"","library_version":22809,"choices":[{"sequence":")"), std::string::npos) << report;
  EXPECT_NE(report.find(R"("arm":"priority, gate","gain_percent":20.)"), std::string::npos) << "800 us instead of 1,000";
  const std::string sequence = after(report, R"("sequence":")");

  constexpr int kStep = StepMarks::kLeastPerStep;
  // Found with the collective of index 23, and compared for the first time 32 steps later.
  const auto begin_of_check = [](const std::vector<bool>& gated) {
    return std::find(gated.begin() + 24, gated.end(), false) - gated.begin();
  };
  Program second(rules_of(Policy::automatic));
  second.fake.choices = "device NVIDIA H200\n" + sequence + " 22809 priority, gate\n";
  const std::vector<bool> gated = gates_of(second, 16 * 150);
  EXPECT_EQ(std::find(gated.begin(), gated.end(), true) - gated.begin(), 23);
  EXPECT_GE(begin_of_check(gated), 23 + 31 * kStep);
  EXPECT_LE(begin_of_check(gated), 23 + 33 * kStep);
  EXPECT_NE(second.report().find(R"("arm":"priority, gate","gain_percent":20.)"), std::string::npos) << second.report();
  EXPECT_NE(second.report().find(R"("remembered":"priority, gate")"), std::string::npos) << second.report();

  // Of another version, or another device, nothing is known.
  for (const char* other :
       {"device NVIDIA H200\nSEQUENCE 22703 priority, gate\n", "device NVIDIA H100\nSEQUENCE 22809 priority, gate\n"}) {
    Program third(rules_of(Policy::automatic));
    third.fake.choices = other;
    third.fake.choices.replace(third.fake.choices.find("SEQUENCE"), 8, sequence);
    const std::vector<bool> compared = gates_of(third, 16 * 150);
    EXPECT_GT(std::find(compared.begin(), compared.end(), true) - compared.begin(), 23 + 5 * kStep) << other;
  }
}

TEST(CoreTrial, RestsFromTheBeginWhereAnEarlierRunFoundNothing) {
  Program first(rules_of(Policy::automatic));
  gates_of(first, 16 * 150);
  Program second(rules_of(Policy::automatic));
  second.fake.choices = "device NVIDIA H200\n" + after(first.report(), R"("sequence":")") + " 22809 plain\n";
  const std::vector<bool> gated = gates_of(second, 16 * 150);
  EXPECT_EQ(std::find(gated.begin(), gated.end(), true), gated.end());
  EXPECT_NE(second.report().find(R"("state":"settled","arm":"plain","collectives_per_repetition":1,"decisions":0)"),
            std::string::npos)
      << second.report();
}

}  // namespace
}  // namespace elbowroom::interposer
