#include "run/durations.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace elbowroom::run {
namespace {

struct ReadDurations {
  std::vector<LearnedDuration> durations;
  std::size_t wrong_line = 0;
};

ReadDurations durations_in(const std::string& text) {
  ReadDurations all;
  DurationLines lines(text);
  while (const auto learned = lines.next()) { all.durations.push_back(*learned); }
  all.wrong_line = lines.wrong_line();
  return all;
}

bool same(const LearnedDuration& a, const LearnedDuration& b) {
  return a.device == b.device && a.kind == b.kind && a.nanoseconds == b.nanoseconds;
}

TEST(Durations, AreWrittenByDevice) {
  const std::vector<LearnedDuration> durations = {
      {"NVIDIA H200", 0xa1, 1'500}, {"NVIDIA H200", 0xfedc'ba98'7654'3210, 4'294'967'295}, {"NVIDIA H100", 0xa1, 7}};
  const std::string text = durations_text(durations);
  EXPECT_EQ(text,
            "device NVIDIA H200\n00000000000000a1 1500\nfedcba9876543210 4294967295\ndevice NVIDIA H100\n00000000000000a1 7\n");
  EXPECT_TRUE(std::ranges::equal(durations_in(text).durations, durations, same));
  EXPECT_EQ(durations_text({}), "");
}

TEST(Durations, NameTheFirstLineThatIsNone) {
  for (const char* line : {"", "device", "00000000000000a1", "00000000000000a1 ", "00000000000000a1 0", "00000000000000a1 -5",
                           "00000000000000a1 4294967296", "0000000000000000 5", "00000000000000g1 5", "00000000000000A1 5", "a1 5",
                           "00000000000000a1  5"}) {
    const std::string text = "device NVIDIA H200\n0000000000000001 2\n" + std::string(line) + "\n0000000000000002 3\n";
    const ReadDurations all = durations_in(text);
    EXPECT_EQ(all.wrong_line, 3U) << line;
    ASSERT_EQ(all.durations.size(), 1U) << "what stands before counts, what follows does not";
    EXPECT_EQ(all.durations[0].nanoseconds, 2U);
  }
}

RC_GTEST_PROP(Durations, AreTheSameAfterTheirText, ()) {
  const std::vector<std::string> devices = {"NVIDIA H200", "AMD Instinct MI300X", "device ", "00000000000000a1 5"};
  std::vector<LearnedDuration> durations(*rc::gen::inRange<std::size_t>(0, 50));
  for (LearnedDuration& duration : durations) {
    duration.device = devices[*rc::gen::inRange<std::size_t>(0, devices.size())];
    duration.kind = *rc::gen::positive<std::uint64_t>();
    duration.nanoseconds = *rc::gen::positive<std::uint32_t>();
  }
  const std::string text = durations_text(durations);
  const ReadDurations all = durations_in(text);
  RC_ASSERT(all.wrong_line == 0U);
  RC_ASSERT(std::ranges::equal(all.durations, durations, same));
}

}  // namespace
}  // namespace elbowroom::run
