#include "elbowroom/report/run_closing.hpp"

#include <gtest/gtest.h>

namespace elbowroom {
namespace {

using Arm = ProcessReport::Trial::Arm;

/// A rank with 640 collectives that compared `gate` with a plain step of 10 ms. Priority alone takes 0.1 % longer, and gate takes
/// `gain` percent less.
ProcessReport rank(const std::string& chosen, double gain, std::int64_t decisions = 1) {
  ProcessReport report;
  report.program = "python3";
  report.trial.state = TrialState::settled;
  report.trial.arm = ArmControls(chosen);
  report.trial.decisions = decisions;
  report.trial.repetition = 16;
  report.trial.arms = {Arm{ArmControls("plain"), Microseconds(10'000), 0, 0, 0},
                       Arm{ArmControls("priority"), Microseconds(10'010), -0.1, -0.4, 0.2},
                       Arm{ArmControls("priority, gate"), Microseconds(10'000 - 100 * gain), gain, gain - 0.5, gain + 0.5}};
  if (decisions == 0) { report.trial.arms.clear(); }
  report.activity.collectives.push_back({});
  report.activity.collectives.back().count = 640;
  return report;
}

/// A rank whose comparison did not come to its end.
ProcessReport undecided(std::string symmetric_memory = "") {
  ProcessReport report = rank("plain", 0, 0);
  report.trial.state = TrialState::trying;
  if (!symmetric_memory.empty()) { report.symmetric_memory = std::move(symmetric_memory); }
  return report;
}

ProcessReport without_collectives(std::string symmetric_memory = "") {
  ProcessReport report = undecided(std::move(symmetric_memory));
  report.activity.collectives.clear();
  return report;
}

RunReport run_with(std::vector<ProcessReport> processes) {
  RunReport report;
  report.policy = "auto";
  report.processes = std::move(processes);
  return report;
}

std::string line_of(const RunReport& report) { return closing_line(closing_facts(report)); }

constexpr const char* kStaged = R"({"buffers": [{"what": "FSDP2 staging buffers", "state": "registered", "bytes": 2040109466,
  "extra_bytes": 1017069568, "compared": "not slower", "ordinary_ms": 70.3, "symmetric_ms": 64.9}]})";

// 1,017,069,568 B are 969.95 * 2^20.
TEST(RunClosing, LeadsWithTheGainOfSymmetricMemory) {
  EXPECT_EQ(line_of(run_with({undecided(kStaged), undecided(kStaged)})),
            "elbowroom: about 64.9 ms a step instead of 70.3 (-7.7 %): FSDP2 staging buffers on symmetric memory; +970 MiB on "
            "each GPU; sums may differ in their last bits");
  ProcessReport plain = rank("plain", 0.2);
  plain.symmetric_memory = kStaged;
  EXPECT_EQ(line_of(run_with({plain})), line_of(run_with({undecided(kStaged)}))) << "that no control helped has no room";
}

TEST(RunClosing, GivesTheLeastGainOfAllRanksFromStepsInTurns) {
  EXPECT_EQ(line_of(run_with({rank("priority, gate", 3.4), rank("priority, gate", 3.2)})),
            "elbowroom: 9.68 ms a step instead of 10.00 (-3.2 %): priority, gate");
}

TEST(RunClosing, PutsTheGreaterOfTwoGainsFirst) {
  ProcessReport both = rank("priority, gate", 3.2);
  both.symmetric_memory = kStaged;
  EXPECT_EQ(line_of(run_with({both})),
            "elbowroom: about 64.9 ms a step instead of 70.3 (-7.7 %): FSDP2 staging buffers on symmetric memory; +970 MiB on "
            "each GPU; sums may differ in their last bits");
  both.symmetric_memory = R"({"buffers": [{"what": "DDP buckets", "state": "registered", "bytes": 100663296, "ordinary_ms": 10.2,
                                           "symmetric_ms": 10.1}]})";
  EXPECT_EQ(
      line_of(run_with({both})),
      "elbowroom: 9.68 ms a step instead of 10.00 (-3.2 %): priority, gate; sums may differ in their last bits; DDP buckets on "
      "symmetric memory (about -1.0 %)");
}

TEST(RunClosing, SaysWhySymmetricMemoryWasNotCompared) {
  EXPECT_EQ(line_of(run_with({undecided(R"({"buffers": [{"what": "DDP buckets", "state": "registered", "bytes": 2040109466,
                                            "compared": "not compared: steps are not alike"}]})")})),
            "elbowroom: DDP buckets on symmetric memory, not compared: steps are not alike; sums may differ in their last bits");
}

TEST(RunClosing, SaysWhySymmetricMemoryWasNotKept) {
  EXPECT_EQ(
      line_of(run_with({undecided(R"({"buffers": [{"what": "FSDP2 staging buffers", "state": "given back", "bytes": 4096,
                                            "reason": "rank 0: steps became slower", "ordinary_ms": 38, "symmetric_ms": 40}]})")})),
      "elbowroom: nothing changed: FSDP2 staging buffers gave symmetric memory back: rank 0: steps became slower; it ended before "
      "a comparison did (640 collectives)");
  EXPECT_EQ(line_of(run_with({undecided(R"({"buffers": [{"what": "DDP buckets", "state": "waiting", "bytes": 4096}]})")})),
            "elbowroom: nothing changed: DDP buckets: it ended before they were registered; it ended before a comparison did (640 "
            "collectives)");
}

TEST(RunClosing, NamesWhatAnUnknownPyTorchLacks) {
  EXPECT_EQ(
      line_of(run_with({undecided(R"({"refused": ["FSDP2: PyTorch 2.15.0 lacks FSDPParamGroup._orig_dtype"]})")})),
      "elbowroom: nothing changed: FSDP2: PyTorch 2.15.0 lacks FSDPParamGroup._orig_dtype; it ended before a comparison did (640 "
      "collectives)");
}

TEST(RunClosing, NamesGlooAndProgramsWithoutCollectives) {
  EXPECT_EQ(
      line_of(run_with({without_collectives(R"({"buffers": [{"what": "DDP buckets", "state": "refused",
                                                      "reason": "the process group's backend is ProcessGroupGloo"}]})")})),
      "elbowroom: nothing changed: DDP buckets: the process group's backend is ProcessGroupGloo; no collective of NCCL was seen");
  EXPECT_EQ(line_of(run_with({without_collectives()})), "elbowroom: nothing changed: no collective of NCCL was seen");
}

TEST(RunClosing, SaysThatNoControlHelped) {
  EXPECT_EQ(line_of(run_with({rank("plain", 0.2)})), "elbowroom: nothing changed: no gain by 'priority' or 'priority, gate'");
}

TEST(RunClosing, SaysThatNoControlActsOnGraphs) {
  ProcessReport graphed = rank("plain", 0);
  graphed.activity.launches.graph_launches = 300;
  for (Arm& arm : graphed.trial.arms) { arm = arm.controls.plain() ? arm : Arm{arm.controls, std::nullopt, 0, 0, 0}; }
  EXPECT_EQ(line_of(run_with({graphed})),
            "elbowroom: nothing changed: its collectives lie in CUDA graphs, on which no control acts");
  graphed.trial.arms[1].step = Microseconds(10'010);
  EXPECT_EQ(line_of(run_with({graphed})), "elbowroom: nothing changed: no gain by 'priority' or 'priority, gate'")
      << "others do not";
}

TEST(RunClosing, SaysWhyNoComparisonCameToAVerdict) {
  ProcessReport none = undecided();
  EXPECT_EQ(line_of(run_with({none})), "elbowroom: nothing changed: it ended before a comparison did (640 collectives)");
  none.trial.state = TrialState::settled;
  EXPECT_EQ(line_of(run_with({none})), "elbowroom: nothing changed: the times of its steps did not become known (640 collectives)");
  none.trial.repetition.reset();
  EXPECT_EQ(line_of(run_with({none})), "elbowroom: nothing changed: no repetition was found among 640 collectives");
}

TEST(RunClosing, SaysWhenRanksKeptDifferentControls) {
  ProcessReport first = rank("plain", 0.2);
  first.trial.why_alone = "the ranks repeat different collectives";
  EXPECT_EQ(
      line_of(run_with({first, rank("priority, gate", 3.2), rank("priority, gate", 3.1)})),
      "elbowroom: the processes kept 'plain' in 1, 'priority, gate' in 2, each for itself: the ranks repeat different collectives");
}

TEST(RunClosing, SaysWhatAnEarlierRunFound) {
  const auto remembering = [](const std::string& remembered, ProcessReport report) {
    report.trial.remembered = ArmControls(remembered);
    return run_with({std::move(report)});
  };
  EXPECT_EQ(line_of(remembering("plain", rank("plain", 0, 0))),
            "elbowroom: nothing changed: no control gained anything in an earlier run, which is remembered");
  EXPECT_EQ(line_of(remembering("priority, gate", rank("priority, gate", 0, 0))),
            "elbowroom: priority, gate, as an earlier run found, not checked: the program ended before");
  EXPECT_EQ(
      line_of(remembering("priority, gate", rank("plain", -0.2))),
      "elbowroom: nothing changed: no gain by 'priority' or 'priority, gate'; 'priority, gate' of an earlier run was given up");
}

TEST(RunClosing, SaysWhatElbowroomStoodAsideFor) {
  ProcessReport aside = undecided();
  aside.activity.passed_through["libhidden.so: a library is loaded with RTLD_DEEPBIND and calls past the hooks"] = 1;
  EXPECT_EQ(line_of(run_with({aside})),
            "elbowroom: nothing changed: libhidden.so: a library is loaded with RTLD_DEEPBIND and calls past the hooks; it ended "
            "before a "
            "comparison did (640 collectives)");
}

// A program that resets its devices before it ends stood aside for nothing.
TEST(RunClosing, LeavesOutThatAContextEnded) {
  ProcessReport ended = undecided();
  ended.activity.passed_through["a context that was used is destroyed"] = 1;
  EXPECT_EQ(line_of(run_with({ended})), line_of(run_with({undecided()})));
}

TEST(RunClosing, SaysWhichPartAPyTorchDoesNotAllow) {
  EXPECT_EQ(line_of(run_with({undecided(R"({"left_out": [{"part": "gathers", "reason": "PyTorch 2.16.0 lacks x"}],
      "buffers": [{"what": "DDP buckets", "state": "registered", "bytes": 2040109466, "compared": "not compared: a"}]})")})),
            "elbowroom: DDP buckets on symmetric memory, not compared: a; sums may differ in their last bits; without gathers: "
            "PyTorch 2.16.0 lacks x");
}

TEST(RunClosing, SaysWhatAPolicyApplied) {
  RunReport report = run_with({undecided()});
  report.processes[0].trial.state = TrialState::off;
  report.policy = "gate";
  EXPECT_EQ(line_of(report), "elbowroom: nothing changed: --policy gate found nothing to act on");
  report.processes[0].activity.applied = {8, 4, 0, 1};
  EXPECT_EQ(
      line_of(report),
      "elbowroom: --policy gate: priority of 8 collectives, a gate before 4 launches, SM targets of 1 products, not compared; "
      "products may differ in their last bits");
  report.policy = "observe";
  EXPECT_EQ(line_of(report), "elbowroom: nothing changed: --policy observe");
}

TEST(RunClosing, SaysWhatWasAskedOfNccl) {
  RunReport report = run_with({rank("priority, gate", 3.2)});
  report.settings = {"NCCL_MAX_CTAS=8", "NCCL_SYM_CTAS=8"};
  EXPECT_EQ(
      line_of(report),
      "elbowroom: 9.68 ms a step instead of 10.00 (-3.2 %): priority, gate; sums may differ in their last bits; NCCL_MAX_CTAS=8, "
      "NCCL_SYM_CTAS=8, as asked");
}

TEST(RunClosing, SaysWhoForbadeWhatMayChangeBits) {
  RunReport report = run_with({rank("plain", 0)});
  report.same_bits = "CUBLAS_WORKSPACE_CONFIG=:4096:8";
  EXPECT_EQ(line_of(report),
            "elbowroom: nothing changed: no gain by 'priority' or 'priority, gate'; no symmetric memory: "
            "CUBLAS_WORKSPACE_CONFIG=:4096:8");
  report.same_bits = "--same-bits";
  EXPECT_EQ(line_of(report), "elbowroom: nothing changed: no gain by 'priority' or 'priority, gate'") << "who asks knows it";
  ProcessReport targeted = rank("priority, gate, sm_target", 0);
  targeted.trial.arms.push_back({ArmControls("priority, gate, sm_target"), Microseconds(9'600), 4, 3, 5});
  EXPECT_EQ(
      line_of(run_with({targeted})),
      "elbowroom: 9.60 ms a step instead of 10.00 (-4.0 %): priority, gate, sm_target; products may differ in their last bits");
}

TEST(RunClosing, NamesTheOptionForJax) {
  ProcessReport jax = rank("plain", 0.2);
  jax.jax = true;
  RunReport report = run_with({jax});
  EXPECT_EQ(
      line_of(report),
      "elbowroom: nothing changed: no gain by 'priority' or 'priority, gate'; XLA's collectives: --set xla_symmetric_buffers=1 may "
      "help");
  report.settings = {"xla_symmetric_buffers=1"};
  EXPECT_EQ(line_of(report),
            "elbowroom: xla_symmetric_buffers=1, as asked; sums may differ in their last bits; no gain by 'priority' or "
            "'priority, gate'");
}

TEST(RunClosing, SaysWhyNoProcessReported) {
  RunReport report = run_with({});
  EXPECT_EQ(line_of(report), "elbowroom: nothing changed: no process reported a use of CUDA's driver");
  report.without_driver = {R"({"refused": ["DistributedDataParallel: PyTorch is built without CUDA"]})"};
  EXPECT_EQ(
      line_of(report),
      "elbowroom: nothing changed: no process reported a use of CUDA's driver; DistributedDataParallel: PyTorch is built without "
      "CUDA");
  report.without_driver.clear();
  report.exit_code = 137;
  EXPECT_EQ(line_of(report), "elbowroom: not known what changed: no process left a report, exit code 137");
  report.driver_found = false;
  EXPECT_EQ(line_of(report), "elbowroom: nothing changed: no CUDA driver here (libcuda.so.1)");
  report.backend = "hip";
  EXPECT_EQ(line_of(report), "elbowroom: nothing changed: no HIP runtime here");
  report.unseen_because = "'app' is linked statically: no library can be preloaded into it";
  EXPECT_EQ(line_of(report), "elbowroom: nothing changed: 'app' is linked statically: no library can be preloaded into it");
}

// Wrappers without a launcher's variables start a `run` for each rank.
TEST(RunClosing, IsSaidByTheRunThatHasRankZero) {
  const auto of_rank = [](std::optional<std::int64_t> number) {
    ProcessReport report = rank("priority, gate", 3.2);
    report.activity.library.rank = number;
    return report;
  };
  EXPECT_TRUE(speaks_for_job(run_with({of_rank(1), of_rank(0)})));
  EXPECT_TRUE(speaks_for_job(run_with({of_rank(std::nullopt)}))) << "of one that made no communicator nothing is known";
  EXPECT_FALSE(speaks_for_job(run_with({of_rank(std::nullopt), of_rank(1)})));
  RunReport failed = run_with({of_rank(1)});
  failed.exit_code = 137;
  EXPECT_TRUE(speaks_for_job(failed)) << "rank 0 may have been killed";
}

// A launcher that uses the driver and runs no collective says nothing of the job.
TEST(RunClosing, LeavesOutProcessesThatDecidedNothing) {
  EXPECT_EQ(line_of(run_with({rank("plain", 0, 0), rank("priority, gate", 3.2)})),
            "elbowroom: 9.68 ms a step instead of 10.00 (-3.2 %): priority, gate");
}

}  // namespace
}  // namespace elbowroom
