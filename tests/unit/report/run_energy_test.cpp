#include "elbowroom/report/run_energy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "elbowroom/report/run_report.hpp"

namespace elbowroom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kSecond = 1e6;

/// 60 W until the tenth second and `busy` W from then on, for 110 s: a counter that moves every 100 ms.
WatchedGpu watched_gpu(const std::string& bus_id, double busy, int processes = 1) {
  WatchedGpu gpu{bus_id, "nvml", {}, {}};
  double millijoules = 0;
  for (int move = 0; move <= 1'100; ++move) {
    gpu.history.add(CounterReading{Microseconds(move * 1e5), Millijoules(static_cast<std::int64_t>(millijoules)), Watts{busy}});
    millijoules += move < 100 ? 6'000 : busy * 100;
    if (move % 10 == 0) { gpu.history.add(Microseconds(move * 1e5), GpuState{40 + move / 100, 1755, {"power cap"}, processes}); }
  }
  return gpu;
}

/// From the 20th to the 100th second, 400 steps of 12 collectives: 200 ms each.
ProcessReport process(std::int64_t pid, const std::string& bus_id) {
  ProcessReport report;
  report.pid = pid;
  report.gpus = {bus_id};
  report.begun = Microseconds(10 * kSecond);
  report.steps = ProcessReport::Steps{400, 12, Microseconds(20 * kSecond), Microseconds(100 * kSecond)};
  return report;
}

std::vector<ProcessReport> two_ranks() { return {process(41, "0000:1B:00.0"), process(42, "0000:1C:00.0")}; }

std::vector<WatchedGpu> three_gpus() {
  return {watched_gpu("0000:1b:00.0", 400), watched_gpu("0000:1c:00.0", 300), watched_gpu("0000:1d:00.0", 700)};
}

// 400 W and 300 W for 80 s are 56,000 J: 140 J in each of 400 steps. Both idle at 60 W: 24 J in 200 ms. The third GPU is none of
// the command's. The ends of 80 s are off by 100 ms: 0.00125.
TEST(RunEnergy, IsThatOfTheGpusOfTheCommandByTheStep) {
  const RunEnergy energy = energy_of_run(two_ranks(), three_gpus());
  ASSERT_TRUE(energy.per_step) << energy.per_step.error().message;
  EXPECT_NEAR(energy.per_step->joules.value, 140, 1e-3);
  EXPECT_NEAR(energy.per_step->resolution, 0.00125, 1e-9);
  EXPECT_NEAR(energy.per_step->low.value, 140 - 0.175, 1e-3);
  EXPECT_NEAR(energy.per_step->length.count(), 200'000, 1e-6);
  ASSERT_TRUE(energy.idle) << energy.idle.error().message;
  EXPECT_NEAR(energy.idle->value, 24, 1e-3);
  EXPECT_EQ(energy.counter, "nvml");
  EXPECT_NEAR(energy.period.value().count(), 100'000, 1e-6);
  EXPECT_EQ(energy.steps, 400);
  EXPECT_EQ(energy.collectives_per_step, 12);
  EXPECT_EQ(energy.counted_by, 41);
  ASSERT_EQ(energy.gpus.size(), 2U);
  EXPECT_EQ(energy.gpus[1].bus_id, "0000:1c:00.0");
  EXPECT_NEAR(energy.gpus[1].joules->value, 60, 1e-3);
  EXPECT_EQ(energy.gpus[1].conditions.celsius, 50);
  EXPECT_EQ(energy.gpus[1].own_processes, 1);
  EXPECT_THAT(energy.notes, IsEmpty());
  EXPECT_EQ(
      in_words(energy),
      "energy: 140 J a step (139.8..140.2), of which 24 J idle; 2 GPUs, 400 steps of 12 collectives in 80.0 s; clocks fell by "
      "power cap");
}

TEST(RunEnergy, SaysThatAGpuIsShared) {
  std::vector<WatchedGpu> watched = three_gpus();
  watched[0] = watched_gpu("00000000:1B:00.0", 400, 3);
  const RunEnergy energy = energy_of_run(two_ranks(), watched);
  ASSERT_TRUE(energy.per_step);
  EXPECT_THAT(energy.notes, ElementsAre("GPU 0000:1b:00.0 had 3 processes with work on it, of which 1 reported: the joules are "
                                        "those of all of them"));
}

// Both ranks on one GPU are its two processes.
TEST(RunEnergy, KnowsItsOwnProcesses) {
  std::vector<WatchedGpu> watched{watched_gpu("0000:1b:00.0", 400, 2)};
  const RunEnergy energy = energy_of_run(std::vector{process(41, "0000:1b:00.0"), process(42, "0000:1b:00.0")}, watched);
  EXPECT_THAT(energy.notes, IsEmpty());
  EXPECT_EQ(energy.gpus.at(0).own_processes, 2);
  EXPECT_NEAR(energy.per_step->joules.value, 80, 1e-3);
}

TEST(RunEnergy, SaysThatProcessesTakeDifferentSteps) {
  std::vector<ProcessReport> processes = two_ranks();
  processes[1].steps->repetitions = 800;
  processes[1].steps->end = Microseconds(99 * kSecond);
  EXPECT_THAT(energy_of_run(processes, three_gpus()).notes,
              ElementsAre("process 42 took 2.03 steps in the time of one of process 41, whose steps are counted"));
}

TEST(RunEnergy, SaysWhyThereIsNone) {
  const auto why = [](std::vector<ProcessReport> processes, Result<std::vector<WatchedGpu>> watched) {
    const RunEnergy energy = energy_of_run(processes, watched);
    EXPECT_FALSE(energy.idle);
    return energy.per_step ? "" : energy.per_step.error().message;
  };
  EXPECT_EQ(why(two_ranks(), unavailable("no NVML")), "no NVML");
  EXPECT_EQ(why({}, three_gpus()), "no process of the command reported");
  std::vector<ProcessReport> processes = two_ranks();
  for (ProcessReport& process : processes) { process.steps.reset(); }
  EXPECT_EQ(why(processes, three_gpus()), "no steps were seen: no process repeated a sequence of collectives");
  processes = two_ranks();
  for (ProcessReport& process : processes) { process.gpus.clear(); }
  EXPECT_THAT(why(processes, three_gpus()), HasSubstr("no process of the command named its GPUs"));
  processes = two_ranks();
  processes[0].gpus = {"0000:ff:00.0"};
  EXPECT_EQ(why(processes, three_gpus()), "GPU 0000:ff:00.0: not one of those that NVML names here");
  std::vector<WatchedGpu> watched = three_gpus();
  watched[0].trouble = "GPU 0000:1b:00.0: MIG is on";
  EXPECT_EQ(why(two_ranks(), watched), "GPU 0000:1b:00.0: MIG is on");
  watched = three_gpus();
  watched[2].trouble = "of no interest";
  EXPECT_TRUE(energy_of_run(two_ranks(), watched).per_step);
}

// A span of 1.5 s has 15 moves of the counter.
TEST(RunEnergy, RefusesASpanThatIsTooShort) {
  std::vector<ProcessReport> processes = two_ranks();
  processes[0].steps->end = processes[0].steps->begin + Microseconds(1.45 * kSecond);
  processes[1].steps.reset();
  const RunEnergy energy = energy_of_run(processes, three_gpus());
  ASSERT_FALSE(energy.per_step);
  EXPECT_EQ(energy.per_step.error().message, "the energy counter moved 15 times in 1.45 s, expected at least 20");
  EXPECT_EQ(energy.steps, 400) << "what was seen is told";
}

TEST(RunEnergy, HasNoIdleWhereTheCommandUsedAGpuAtOnce) {
  std::vector<ProcessReport> processes = two_ranks();
  processes[1].begun = Microseconds(0.95 * kSecond);
  const RunEnergy energy = energy_of_run(processes, three_gpus());
  ASSERT_TRUE(energy.per_step);
  ASSERT_FALSE(energy.idle);
  EXPECT_EQ(energy.idle.error().message,
            "before the command used a GPU the energy counter moved 10 times in 0.95 s, expected at least 20");
}

TEST(RunEnergy, IsInTheReport) {
  RunReport report;
  EXPECT_TRUE(nlohmann::json::parse(to_json(report))["energy"].is_null());
  report.energy = energy_of_run(two_ranks(), three_gpus());
  const nlohmann::json energy = nlohmann::json::parse(to_json(report))["energy"];
  EXPECT_NEAR(energy["joules_per_step"].get<double>(), 140, 1e-3);
  EXPECT_TRUE(energy["why_absent"].is_null());
  EXPECT_EQ(energy["confidence"], 0.95);
  EXPECT_NEAR(energy["idle_joules"].get<double>(), 24, 1e-3);
  EXPECT_EQ(energy["span_s"], 80.0);
  EXPECT_EQ(energy["steps"], 400);
  EXPECT_EQ(energy["counted_by"], 41);
  EXPECT_EQ(energy["period_ms"], 100.0);
  EXPECT_EQ(energy["gpus"][0]["bus_id"], "0000:1b:00.0");
  EXPECT_EQ(energy["gpus"][0]["clocks_fell_by"], nlohmann::json::array({"power cap"}));
  EXPECT_EQ(energy["gpus"][0]["least_sm_mhz"], 1755);
  EXPECT_THAT(to_table(report), HasSubstr("# energy: 140 J a step"));
  report.energy = energy_of_run(two_ranks(), unavailable("no NVML"));
  const nlohmann::json absent = nlohmann::json::parse(to_json(report))["energy"];
  EXPECT_TRUE(absent["joules_per_step"].is_null());
  EXPECT_EQ(absent["why_absent"], "no NVML");
}

}  // namespace
}  // namespace elbowroom
