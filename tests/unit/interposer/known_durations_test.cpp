#include "interposer/core/known_durations.hpp"

#include <gtest/gtest.h>

#include "fake_platform.hpp"
#include "interposer/core/durations.hpp"
#include "milliseconds.hpp"

namespace elbowroom::interposer {
namespace {
TEST(KnownDurations, AreThoseOfTheDevice) {
  constexpr const char* text =
      "0000000000000004 7\ndevice NVIDIA H200\n00000000000000a1 1500\nfedcba9876543210 4294967295\n"
      "device NVIDIA H100\n00000000000000a1 7\ndevice NVIDIA H200\n0000000000000003 9";
  KnownDurations known;
  known.add(text, "NVIDIA H200");
  EXPECT_EQ(known.of(0xa1), 1'500U);
  EXPECT_EQ(known.of(0xfedc'ba98'7654'3210), 4'294'967'295U);
  EXPECT_EQ(known.of(3), 9U);
  EXPECT_EQ(known.of(4), 0U) << "of no device";
  KnownDurations of_no_device;
  of_no_device.add(text, "");
  EXPECT_EQ(of_no_device.of(4), 0U);
}

TEST(KnownDurations, EndAtTheFirstWrongLine) {
  KnownDurations known;
  known.add("device NVIDIA H200\n0000000000000001 2\nnonsense\n0000000000000002 3\n", "NVIDIA H200");
  EXPECT_EQ(known.of(1), 2U);
  EXPECT_EQ(known.of(2), 0U);
}

TEST(KnownDurations, FullTablesTakeNoMore) {
  KnownDurations known;
  for (std::uint64_t kind = 1; kind <= 2 * KnownDurations::kCapacity; ++kind) { known.add(kind, 5); }
  EXPECT_EQ(known.of(1), 5U);
  EXPECT_EQ(known.of(2 * KnownDurations::kCapacity), 0U);
}

std::string between(const std::string& text, const std::string& before, const std::string& after) {
  const std::size_t begin = text.find(before);
  if (begin == std::string::npos) { return {}; }
  return text.substr(begin + before.size(), text.find(after, begin + before.size()) - begin - before.size());
}

/// As a report says it: "kind ns" of the collective.
std::string learned_line(Program& program) {
  const std::string durations = between(program.report(), R"("durations":[)", "]");
  const std::string kind = between(durations, R"("kind":")", R"(","kernel":"nccl)");
  return kind.substr(kind.size() < 16 ? 0 : kind.size() - 16) + " 2000000\n";
}

TEST(KnownDurations, OneRunLearnsThemForTheNext) {
  Program first(rules_of(Policy::gate));
  // The functions have other handles, and are met in another order, than in the second run.
  first.launch(kGemm, kComputeStream);
  for (int i = 0; i < 3; ++i) { first.teach(kAllReduce, kCommStream, 2 * kMs); }
  const std::string report = first.report();
  EXPECT_NE(report.find(R"("device":"NVIDIA H200")"), std::string::npos) << report;
  EXPECT_NE(report.find(R"("us":2000.000,"launches":9)"), std::string::npos) << report;

  for (const bool knows : {false, true}) {
    Program second(rules_of(Policy::gate));
    second.fake.durations = knows ? "device NVIDIA H200\n" + learned_line(first) : "";
    second.launch(kAllReduce, kCommStream);
    second.now_ns += 3 * kMs;  // over by then, for who knows that it takes 2 ms
    EXPECT_EQ(second.launch(kGemm, kComputeStream).in_window, !knows);
  }
}

TEST(KnownDurations, GiveWayToWhatIsMeasured) {
  DurationSamples samples;
  samples.begin_with(1'000);
  EXPECT_TRUE(samples.known());
  EXPECT_EQ(samples.expected(), 1'000U);
  EXPECT_FALSE(samples.measured());
  for (std::uint64_t launch = 0; launch < DurationSamples::kFirst; ++launch) {
    EXPECT_TRUE(samples.wants(launch)) << "timed as if nothing were known";
    EXPECT_EQ(samples.expected(), launch < 2 ? 1'000U : 5'000U);
    samples.add(5'000);
  }
  EXPECT_TRUE(samples.measured());
}

TEST(KnownDurations, AreNotReportedAsMeasured) {
  Program first(rules_of(Policy::observe));
  for (int i = 0; i < 3; ++i) { first.teach(kAllReduce, kCommStream, 2 * kMs); }
  Rules rules = rules_of(Policy::observe);
  rules.timing = false;
  Program second(rules);
  second.fake.durations = "device NVIDIA H200\n" + learned_line(first);
  for (int i = 0; i < 20; ++i) { second.launch(kAllReduce, kCommStream); }
  EXPECT_NE(second.report().find(R"("expected_us":2000.000)"), std::string::npos) << second.report();
  EXPECT_NE(second.report().find(R"("durations":[])"), std::string::npos) << second.report();
}

TEST(KnownDurations, AreOfNoUseWhereDevicesDiffer) {
  Program first(rules_of(Policy::observe));
  for (int i = 0; i < 3; ++i) { first.teach(kAllReduce, kCommStream, 2 * kMs); }
  Program program(rules_of(Policy::observe));
  program.fake.durations = "device NVIDIA H200\n" + learned_line(first);
  program.fake.streams[kOtherComputeStream] = {0x5000, 1, false};
  program.launch(kAllGather, kComputeStream);
  program.fake.device.name = {"NVIDIA T400"};
  program.launch(kAllGather, kOtherComputeStream);
  for (int i = 0; i < 20; ++i) { program.launch(kAllReduce, kCommStream); }
  EXPECT_NE(program.report().find(R"("device":"","durations":[])"), std::string::npos) << program.report();
  EXPECT_EQ(program.report().find(R"("expected_us":2000.000)"), std::string::npos) << program.report();
}

}  // namespace
}  // namespace elbowroom::interposer
