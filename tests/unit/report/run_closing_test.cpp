#include "elbowroom/report/run_closing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace elbowroom {
namespace {

using ::testing::HasSubstr;
using Arm = ProcessReport::Trial::Arm;

ProcessReport process(const std::string& chosen, double gain, std::int64_t decisions = 1) {
  ProcessReport report;
  report.trial.state = TrialState::settled;
  report.trial.arm = ArmControls(chosen);
  report.trial.decisions = decisions;
  report.trial.repetition = 16;
  report.trial.arms = {Arm{ArmControls("plain"), Microseconds(1'000), 0, 0, 0},
                       Arm{ArmControls("priority"), Microseconds(1'001), -0.1, -0.4, 0.2},
                       Arm{ArmControls("priority, gate"), Microseconds(1'000 - 10 * gain), gain, gain - 0.5, gain + 0.5}};
  report.activity.collectives.push_back({});
  report.activity.collectives.back().count = 640;
  return report;
}

RunReport run_with(std::vector<ProcessReport> processes) {
  RunReport report;
  report.policy = "auto";
  report.processes = std::move(processes);
  return report;
}

TEST(RunClosing, SaysWhatWasKeptAndTheLeastThatItWasWorth) {
  EXPECT_EQ(closing_line(run_with({process("priority, gate", 3.4), process("priority, gate", 3.2)})),
            "kept 'priority, gate': steps take 3.2 % (2.7..3.7, 95 %) less");
}

TEST(RunClosing, SaysThatNothingHelpedAndWhatWasTried) {
  EXPECT_EQ(
      closing_line(run_with({process("plain", 0.2)})),
      "nothing helped, the program ran as it is (gain with 'priority' -0.1 % (-0.4..0.2, 95 %), 'priority, gate' 0.2 % (-0.3..0.7, "
      "95 %))");
}

TEST(RunClosing, SaysThatNoControlActsOnGraphs) {
  ProcessReport graphed = process("plain", 0);
  graphed.activity.launches.graph_launches = 300;
  for (Arm& arm : graphed.trial.arms) { arm = arm.controls.plain() ? arm : Arm{arm.controls, std::nullopt, 0, 0, 0}; }
  EXPECT_EQ(
      closing_line(run_with({graphed})),
      "nothing helped, the program ran as it is (gain with 'priority' none: it acted on nothing, 'priority, gate' none: it acted "
      "on nothing); its collectives lie in CUDA graphs, on which no control acts once they are made");
  graphed.trial.arms[1].step = Microseconds(1'001);
  EXPECT_THAT(closing_line(run_with({graphed})).value_or(""), ::testing::Not(HasSubstr("lie in CUDA graphs"))) << "others do not";
  ProcessReport eager = process("plain", 0);
  EXPECT_THAT(closing_line(run_with({eager})).value_or(""), ::testing::Not(HasSubstr("lie in CUDA graphs")));
}

TEST(RunClosing, SaysWhenProcessesChoseDifferently) {
  EXPECT_EQ(closing_line(run_with({process("plain", 0.2), process("priority, gate", 3.2), process("priority, gate", 3.1)})),
            "processes chose differently: 'plain' in 1, 'priority, gate' in 2");
  ProcessReport first = process("plain", 0.2);
  first.trial.why_alone = "the ranks repeat different collectives";
  EXPECT_EQ(
      closing_line(run_with({first, process("priority, gate", 3.2)})),
      "processes chose differently: 'plain' in 1, 'priority, gate' in 1 (each for itself: the ranks repeat different collectives)");
}

TEST(RunClosing, SaysWhyNothingWasCompared) {
  ProcessReport none = process("plain", 0, 0);
  none.trial.arms.clear();
  none.trial.state = TrialState::trying;
  EXPECT_EQ(closing_line(run_with({none})), "the program ran as it is: it ended before a comparison did (640 collectives)");
  none.trial.state = TrialState::settled;
  EXPECT_EQ(closing_line(run_with({none})),
            "the program ran as it is: the times of its steps did not become known (640 collectives)");
  none.trial.repetition.reset();
  EXPECT_EQ(closing_line(run_with({none})), "the program ran as it is: no repetition was found among 640 collectives");
  none.activity.collectives.clear();
  EXPECT_EQ(closing_line(run_with({none})), "the program ran as it is: no collective was seen");
  EXPECT_FALSE(closing_line(run_with({}))) << "a command without a GPU";
}

TEST(RunClosing, NamesWhatIsOnSymmetricMemoryAndWhetherItWasCompared) {
  ProcessReport rank = process("priority, gate", 3.2);
  rank.symmetric_memory = R"({"buffers": [{"what": "DDP buckets", "state": "registered", "bytes": 2428608512}]})";
  EXPECT_EQ(closing_line(run_with({process("priority, gate", 3.2), rank})),
            "kept 'priority, gate': steps take 3.2 % (2.7..3.7, 95 %) less; DDP buckets on symmetric memory (2316 MiB), "
            "uncompared, sums may differ in their last bits");
  rank.symmetric_memory = R"({"buffers": [{"what": "DDP buckets", "state": "refused", "reason": "rank 1: out of memory"}]})";
  EXPECT_EQ(closing_line(run_with({rank})),
            "kept 'priority, gate': steps take 3.2 % (2.7..3.7, 95 %) less; DDP buckets on ordinary memory: rank 1: out of memory");
  rank.symmetric_memory = R"({"buffers": [{"what": "DDP buckets", "state": "registered", "bytes": 2428608512,
                               "ordinary_ms": 39.9, "symmetric_ms": 38.1}]})";
  EXPECT_THAT(closing_line(run_with({rank})).value_or(""),
              HasSubstr("on symmetric memory (2316 MiB), 38.10 ms a step, 39.90 before"));
  rank.symmetric_memory = R"({"buffers": [{"what": "FSDP2 staging buffers", "state": "given back", "bytes": 4096,
                               "reason": "rank 0: steps became slower", "ordinary_ms": 38.1, "symmetric_ms": 39.9}]})";
  EXPECT_THAT(closing_line(run_with({rank})).value_or(""), HasSubstr("on ordinary memory: rank 0: steps became slower"));
  rank.symmetric_memory = R"({"buffers": [{"what": "DDP buckets", "state": "waiting", "bytes": 4096, "ordinary_ms": null}]})";
  EXPECT_THAT(closing_line(run_with({rank})).value_or(""), HasSubstr("on ordinary memory: it ended before they were registered"));
  rank.symmetric_memory = R"({"buffers": 3, "refused": {}})";
  EXPECT_EQ(closing_line(run_with({rank})), "kept 'priority, gate': steps take 3.2 % (2.7..3.7, 95 %) less");
}

ProcessReport remembering(const std::string& remembered, const std::string& chosen, double gain, std::int64_t decisions) {
  ProcessReport report = process(chosen, gain, decisions);
  report.trial.remembered = ArmControls(remembered);
  if (decisions == 0) { report.trial.arms.clear(); }
  return report;
}

TEST(RunClosing, SaysWhatWasRemembered) {
  EXPECT_EQ(closing_line(run_with({remembering("plain", "plain", 0, 0)})),
            "nothing helped in an earlier run, which is remembered: the program ran as it is");
  EXPECT_EQ(closing_line(run_with({remembering("priority, gate", "priority, gate", 0, 0)})),
            "kept 'priority, gate', remembered from an earlier run: this one ended before it was checked");
  EXPECT_EQ(closing_line(run_with({remembering("priority, gate", "priority, gate", 3.2, 1)})),
            "kept 'priority, gate', as an earlier run did: steps take 3.2 % (2.7..3.7, 95 %) less");
  EXPECT_EQ(closing_line(run_with({remembering("plain", "priority, gate", 3.2, 1)})),
            "kept 'priority, gate': steps take 3.2 % (2.7..3.7, 95 %) less");
  EXPECT_EQ(closing_line(run_with({remembering("priority, gate", "plain", -0.2, 1)})),
            "nothing helped, the program ran as it is (gain with 'priority' -0.1 % (-0.4..0.2, 95 %), 'priority, gate' -0.2 % "
            "(-0.7..0.3, "
            "95 %)); 'priority, gate', which an earlier run kept, was given up");
}

TEST(RunClosing, SaysWhereSettingsOfNcclDidNotAct) {
  RunReport report = run_with({process("priority, gate", 3.2), process("priority, gate", 3.2)});
  report.processes[1].activity.library.unseen = 1;
  EXPECT_EQ(closing_line(report), "kept 'priority, gate': steps take 3.2 % (2.7..3.7, 95 %) less") << "nothing was asked of it";
  report.asks_library = true;
  EXPECT_EQ(
      closing_line(report),
      "kept 'priority, gate': steps take 3.2 % (2.7..3.7, 95 %) less; what --set asks of NCCL did not act in 1 process, whose NCCL "
      "cannot be seen");
}

TEST(RunClosing, SaysWhatMayChangeBitsAndWhoForbadeIt) {
  ProcessReport targeted = process("priority, gate, sm_target", 0);
  targeted.trial.arms.push_back({ArmControls("priority, gate, sm_target"), Microseconds(960), 4, 3, 5});
  EXPECT_EQ(closing_line(run_with({targeted})),
            "kept 'priority, gate, sm_target': steps take 4.0 % (3.0..5.0, 95 %) less; products with an SM target may differ in "
            "their last "
            "bits");
  RunReport report = run_with({process("priority, gate", 3.2)});
  report.same_bits = "--same-bits";
  EXPECT_EQ(closing_line(report), "kept 'priority, gate': steps take 3.2 % (2.7..3.7, 95 %) less");
  report.same_bits = "CUBLAS_WORKSPACE_CONFIG=:4096:8";
  EXPECT_EQ(closing_line(report),
            "kept 'priority, gate': steps take 3.2 % (2.7..3.7, 95 %) less; a profile's SM targets, budgets and symmetric memory "
            "were left out "
            "because of CUBLAS_WORKSPACE_CONFIG=:4096:8");
  report.processes.clear();
  EXPECT_FALSE(closing_line(report)) << "a command without a GPU";
}

// A launcher that uses the driver and runs no collective says nothing of the job.
TEST(RunClosing, LeavesOutProcessesThatDecidedNothing) {
  EXPECT_EQ(closing_line(run_with({process("plain", 0, 0), process("priority, gate", 3.2)})),
            "kept 'priority, gate': steps take 3.2 % (2.7..3.7, 95 %) less");
}

TEST(RunClosing, IsEmptyWhereNothingIsCompared) {
  RunReport report = run_with({process("priority, gate", 3.2)});
  report.policy = "gate";
  EXPECT_FALSE(closing_line(report));
  ProcessReport off = process("plain", 0);
  off.trial.state = TrialState::off;
  EXPECT_FALSE(closing_line(run_with({off})));
}

/// Compared its budgets: 16 blocks take 0.5 % less, 8 blocks `gain` % less than the library's own number.
ProcessReport with_budget(ProcessReport report, std::optional<std::int64_t> kept, double gain) {
  report.trial.budget.state = TrialState::settled;
  report.trial.budget.decides = Decider::this_process;
  report.trial.budget.kept = BlockBudget{kept};
  report.trial.budget.decisions = 1;
  report.trial.budget.arms = {{{}, Microseconds(1'000), 0, 0, 0},
                              {{16}, Microseconds(995), 0.5, -0.5, 1.5},
                              {{8}, Microseconds(1'000 - 10 * gain), gain, gain - 1, gain + 1}};
  return report;
}

TEST(RunClosing, SaysWhichBudgetWasKeptAndWhatItWasWorth) {
  ProcessReport follower = process("plain", 0.2);
  follower.trial.budget.state = TrialState::waiting;
  const RunReport kept = run_with({follower, with_budget(process("plain", 0.2), 8, 3)});
  EXPECT_THAT(closing_line(kept).value_or(""), HasSubstr("no other control helped (gain with 'priority'"));
  EXPECT_THAT(closing_line(kept).value_or(""),
              HasSubstr("; collectives kept to 8 blocks: steps take 3.0 % (2.0..4.0, 95 %) less, sums may differ"));
  EXPECT_EQ(closing_line(run_with({with_budget(process("priority, gate", 3.2), std::nullopt, -2)})),
            "kept 'priority, gate': steps take 3.2 % (2.7..3.7, 95 %) less; fewer blocks for collectives gained nothing (16: 0.5 % "
            "(-0.5..1.5, 95 %), 8: -2.0 % (-3.0..-1.0, 95 %))");
  ProcessReport unchecked = with_budget(process("priority, gate", 3.2), 8, 0);
  unchecked.trial.budget.decisions.reset();
  EXPECT_THAT(closing_line(run_with({unchecked})).value_or(""),
              HasSubstr("; collectives kept to 8 blocks, as an earlier run found, not checked"));
}

// Of two jobs, or two groups of ranks that share no communicator, the one that gained least.
TEST(RunClosing, SaysTheLeastThatABudgetWasWorth) {
  EXPECT_THAT(
      closing_line(run_with({with_budget(process("plain", 0.2), 8, 5), with_budget(process("plain", 0.2), 8, 3)})).value_or(""),
      HasSubstr("steps take 3.0 %"));
}

TEST(RunClosing, SaysWhyNoBudgetWasCompared) {
  ProcessReport asked = process("priority, gate", 3.2);
  asked.trial.budget.state = TrialState::waiting;
  asked.trial.budget.decides = Decider::this_process;
  asked.trial.budget.reason = "NCCL asked about no collective";
  RunReport report = run_with({asked});
  EXPECT_THAT(closing_line(report).value_or(""), HasSubstr("; no budget of blocks was compared: NCCL asked about no collective"));
  report.processes[0].activity.library.agreement = {{"the ranks are on several hosts", 2}};
  EXPECT_THAT(closing_line(report).value_or(""), HasSubstr("; no budget of blocks was compared: the ranks are on several hosts"));
  report.processes[0].activity.library.agreement = {{"one rank", 1}, {"possible", 1}};
  EXPECT_THAT(closing_line(report).value_or(""), HasSubstr("compared: NCCL asked"));
  report.no_budgets = "NCCL_MAX_CTAS=8";
  EXPECT_THAT(closing_line(report).value_or(""), HasSubstr("; no budget of blocks was compared because of NCCL_MAX_CTAS=8"));
  report.no_budgets = "--off budget";
  EXPECT_EQ(closing_line(report), "kept 'priority, gate': steps take 3.2 % (2.7..3.7, 95 %) less");
}

}  // namespace
}  // namespace elbowroom
