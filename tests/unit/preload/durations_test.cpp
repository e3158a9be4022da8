#include "preload/durations.hpp"

#include <gtest/gtest.h>

namespace elbowroom::preload {
namespace {

ProcessReport process(std::optional<std::string> device, std::vector<KindDuration> durations) {
  ProcessReport report;
  report.device = std::move(device);
  report.durations = std::move(durations);
  return report;
}

// (190 x 40 + 310 x 20) / 60 = 230
TEST(PreloadDurations, AreMeansOverProcessesByLaunches) {
  const std::vector<ProcessReport> processes{process("NVIDIA H200", {{"00000000000000a1", "nvjet", Microseconds(190), 40}}),
                                             process("NVIDIA H200", {{"00000000000000a1", "nvjet", Microseconds(310), 20}}),
                                             process(std::nullopt, {{"00000000000000a1", "nvjet", Microseconds(900), 40}})};
  const std::vector<StoredDuration> learned = learned_durations(processes, 100);
  ASSERT_EQ(learned.size(), 1U);
  EXPECT_EQ(learned[0].device, "NVIDIA H200");
  EXPECT_EQ(learned[0].kind, "00000000000000a1");
  EXPECT_EQ(learned[0].kernel, "nvjet");
  EXPECT_NEAR(learned[0].time.count(), 230, 1e-9);
  EXPECT_EQ(learned[0].stored_at, 100);
}

// What a process reports can hold anything; a profile holds lines of text.
TEST(PreloadDurations, LeaveOutWhatNoProfileCouldHold) {
  const std::vector<ProcessReport> processes{
      process("a\nb", {{"no kind", "k", Microseconds(1), 1}, {"00000000000000a1", "k\n", Microseconds(1), 1}}),
      process("never", {{"00000000000000a2", "k", Microseconds(1), 0}})};
  const std::vector<StoredDuration> learned = learned_durations(processes, 100);
  ASSERT_EQ(learned.size(), 1U);
  EXPECT_EQ(learned[0].device, "a?b");
  EXPECT_EQ(learned[0].kernel, "k?");
}

TEST(PreloadDurations, AreTextInNanosecondsForTheProgram) {
  Profile profile;
  profile.put(StoredDuration{"NVIDIA H200", "00000000000000a1", "nvjet", Microseconds(190.5), 100});
  profile.put(StoredDuration{"NVIDIA H200", "00000000000000a2", "nvjet", Microseconds(0.0001), 100});
  EXPECT_EQ(durations_text(profile), "device NVIDIA H200\n00000000000000a1 190500\n00000000000000a2 1\n");
  EXPECT_EQ(durations_text({}), "");
}

}  // namespace
}  // namespace elbowroom::preload
