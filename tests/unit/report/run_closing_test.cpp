#include "elbowroom/report/run_closing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace elbowroom {
namespace {

using ::testing::HasSubstr;
using Arm = ProcessReport::Trial::Arm;

ProcessReport process(const std::string& chosen, double gain, std::int64_t decisions = 1) {
  ProcessReport report;
  report.trial = {"settled",
                  chosen,
                  decisions,
                  16,
                  {Arm{"plain", Microseconds(1'000), 0, 0, 0}, Arm{"priority", Microseconds(1'001), -0.1, -0.4, 0.2},
                   Arm{"priority, gate", Microseconds(1'000 - 10 * gain), gain, gain - 0.5, gain + 0.5}}};
  report.activity.collectives.push_back({});
  report.activity.collectives.back().count = 640;
  return report;
}

RunReport run_of(std::vector<ProcessReport> processes) {
  RunReport report;
  report.policy = "auto";
  report.processes = std::move(processes);
  return report;
}

TEST(RunClosing, SaysWhatWasKeptAndTheLeastThatItWasWorth) {
  EXPECT_EQ(closing_line(run_of({process("priority, gate", 3.4), process("priority, gate", 3.2)})),
            "kept 'priority, gate': steps take 3.2 % (2.7..3.7, 95 %) less");
}

TEST(RunClosing, SaysThatNothingHelpedAndWhatWasTried) {
  EXPECT_EQ(
      closing_line(run_of({process("plain", 0.2)})),
      "nothing helped, the program ran as it is (gain with 'priority' -0.1 % (-0.4..0.2, 95 %), 'priority, gate' 0.2 % (-0.3..0.7, "
      "95 %))");
}

TEST(RunClosing, SaysWhenProcessesChoseDifferently) {
  EXPECT_EQ(closing_line(run_of({process("plain", 0.2), process("priority, gate", 3.2), process("priority, gate", 3.1)})),
            "processes chose differently: 'plain' in 1, 'priority, gate' in 2");
}

TEST(RunClosing, SaysWhyNothingWasCompared) {
  ProcessReport none = process("plain", 0, 0);
  none.trial.arms.clear();
  EXPECT_EQ(closing_line(run_of({none})), "the program ran as it is: it ended before a comparison did (640 collectives)");
  none.trial.repetition = 0;
  EXPECT_EQ(closing_line(run_of({none})), "the program ran as it is: no repetition was found among 640 collectives");
  none.activity.collectives.clear();
  EXPECT_EQ(closing_line(run_of({none})), "the program ran as it is: no collective was seen");
  EXPECT_EQ(closing_line(run_of({})), "") << "a command without a GPU";
}

TEST(RunClosing, NamesWhatIsOnSymmetricMemoryAndWhetherItWasCompared) {
  ProcessReport rank = process("priority, gate", 3.2);
  rank.symmetric_memory = R"({"buffers": [{"what": "DDP buckets", "state": "registered", "bytes": 2428608512}]})";
  EXPECT_EQ(
      closing_line(run_of({process("priority, gate", 3.2), rank})),
      "kept 'priority, gate': steps take 3.2 % (2.7..3.7, 95 %) less; DDP buckets on symmetric memory (2316 MiB), uncompared");
  rank.symmetric_memory = R"({"buffers": [{"what": "DDP buckets", "state": "refused", "reason": "rank 1: out of memory"}]})";
  EXPECT_EQ(closing_line(run_of({rank})),
            "kept 'priority, gate': steps take 3.2 % (2.7..3.7, 95 %) less; DDP buckets on ordinary memory: rank 1: out of memory");
  rank.symmetric_memory = R"({"buffers": [{"what": "DDP buckets", "state": "registered", "bytes": 2428608512,
                               "ordinary_ms": 39.9, "symmetric_ms": 38.1}]})";
  EXPECT_THAT(closing_line(run_of({rank})), HasSubstr("on symmetric memory (2316 MiB), 38.10 ms a step, 39.90 before"));
  rank.symmetric_memory = R"({"buffers": [{"what": "FSDP2 staging buffers", "state": "given back", "bytes": 4096,
                               "reason": "rank 0: steps became slower", "ordinary_ms": 38.1, "symmetric_ms": 39.9}]})";
  EXPECT_THAT(closing_line(run_of({rank})), HasSubstr("on ordinary memory: rank 0: steps became slower"));
  rank.symmetric_memory = R"({"buffers": [{"what": "DDP buckets", "state": "waiting", "bytes": 4096, "ordinary_ms": null}]})";
  EXPECT_THAT(closing_line(run_of({rank})), HasSubstr("on ordinary memory: it ended before they were registered"));
  rank.symmetric_memory = R"({"buffers": 3, "refused": {}})";
  EXPECT_EQ(closing_line(run_of({rank})), "kept 'priority, gate': steps take 3.2 % (2.7..3.7, 95 %) less");
}

// A launcher that uses the driver and runs no collective says nothing of the job.
TEST(RunClosing, LeavesOutProcessesThatDecidedNothing) {
  EXPECT_EQ(closing_line(run_of({process("plain", 0, 0), process("priority, gate", 3.2)})),
            "kept 'priority, gate': steps take 3.2 % (2.7..3.7, 95 %) less");
}

TEST(RunClosing, IsEmptyWhereNothingIsCompared) {
  RunReport report = run_of({process("priority, gate", 3.2)});
  report.policy = "gate";
  EXPECT_EQ(closing_line(report), "");
  ProcessReport off = process("plain", 0);
  off.trial.state = "off";
  EXPECT_EQ(closing_line(run_of({off})), "");
}

}  // namespace
}  // namespace elbowroom
