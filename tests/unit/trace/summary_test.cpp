#include "elbowroom/trace/summary.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace elbowroom {
namespace {

std::vector<Microseconds> times(std::vector<double> values) {
  std::vector<Microseconds> result;
  for (const double value : values) { result.emplace_back(value); }
  return result;
}

/// 1..40 times of 0.001..1000 us.
rc::Gen<std::vector<Microseconds>> any_times() {
  const auto time = rc::gen::map(rc::gen::inRange(1, 1'000'001), [](int ns) { return Microseconds(ns / 1000.0); });
  return rc::gen::mapcat(rc::gen::inRange<std::size_t>(1, 41),
                         [time](std::size_t count) { return rc::gen::container<std::vector<Microseconds>>(count, time); });
}

TEST(Summarize, TakesTheMiddleOfAnOddNumberOfSamples) {
  const auto summary = summarize(times({30, 10, 20}), 1);
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->median, Microseconds(20));
  EXPECT_EQ(summary->trials, 3);
}

TEST(Summarize, ClaimsNoMoreConfidenceThanSoManySamplesCanGive) {
  // All n samples lie on one side of the true median with probability 2 * 2^-n, and then no interval between them holds it:
  // at most 1 - 1/4 of 3, 1 - 1/16 of 5, 1 - 1/32 = 0.969 of 6, which is enough for 0.95.
  EXPECT_EQ(summarize(times({10, 20, 30}), 1)->confidence, 0.75);
  EXPECT_EQ(summarize(times({10, 20, 30, 40, 50}), 1)->confidence, 0.9375);
  EXPECT_EQ(summarize(times({10, 20, 30, 40, 50, 60}), 1)->confidence, 0.95);
  EXPECT_EQ(summarize_ratio(times({10, 20, 30}), times({10, 20, 30}), 1)->confidence, 0.75);
}

TEST(Summarize, TakesTheMeanOfTheTwoMiddleSamplesOfAnEvenNumber) {
  // sorted: 10 20 30 80 -> (20 + 30) / 2
  EXPECT_EQ(summarize(times({80, 10, 30, 20}), 1)->median, Microseconds(25));
}

TEST(Summarize, OneSampleIsItsOwnInterval) {
  const auto summary = summarize(times({12.5}), 7);
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(*summary, (Summary{Microseconds(12.5), Microseconds(12.5), Microseconds(12.5), 0.0, 1}));
}

TEST(Summarize, ThreeSamplesGiveTheirWholeRange) {
  // A resample of 3 has median 1 when at least two draws are 1: 3 * (1/3)^2 * (2/3) + (1/3)^3 = 7/27 = 26 %, far over the
  // 2.5 % that each side leaves out; so is the chance of median 3. The interval must be the range.
  const auto summary = summarize(times({1, 2, 3}), 1);
  EXPECT_EQ(summary->low, Microseconds(1));
  EXPECT_EQ(summary->high, Microseconds(3));
}

TEST(Summarize, AnOutlierAmongManyDoesNotReachTheInterval) {
  // Of 21 samples one is 100 times the rest: a resample's median is the outlier only when 11 of 21 draws are, < 1e-8.
  std::vector<double> values(20, 10.0);
  values.push_back(1000.0);
  const auto summary = summarize(times(values), 1);
  EXPECT_EQ(summary->high, Microseconds(10));
}

TEST(Summarize, GivesTheSameBitsEverywhere) {
  // The standard fixes mt19937_64: the 10,000th draw of the default-seeded generator is 9981545732273789042. With our own
  // mapping to indices no other part may differ between platforms; these bounds were computed by an independent program.
  std::mt19937_64 generator;
  generator.discard(9999);
  ASSERT_EQ(generator(), 9981545732273789042U);
  // The order statistics must not be the wider ones: between the 4th and the 8th of eleven the true median lies with
  // 1 - 2 (1 + 11 + 55 + 165) / 2048 = 77.3 %.
  const auto summary = summarize(times({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}), 42, 0.77, 50);
  EXPECT_EQ(summary->median, Microseconds(6));
  EXPECT_EQ(summary->low, Microseconds(4));
  EXPECT_EQ(summary->high, Microseconds(8));
}

TEST(Summarize, HoldsItsPromiseForFewSamples) {
  // Of seven samples the bootstrap's own interval is from the second to the sixth, which holds the true median with 1 - 2 * 8 / 128
  // = 87.5 %.
  const auto summary = summarize(times({1, 2, 3, 4, 5, 6, 7}), 1);
  EXPECT_EQ(summary->low, Microseconds(1));
  EXPECT_EQ(summary->high, Microseconds(7));
  EXPECT_EQ(summary->confidence, 0.95);
}

TEST(Summarize, CoversTheTrueMedianAboutAsOftenAsItPromises) {
  // 400 experiments of 25 draws uniform in [0, 1), true median 0.5. The percentile bootstrap of a median is close to its
  // nominal 95 %; the standard error of the share is sqrt(.95*.05/400) = 1.1 %.
  std::mt19937_64 generator(1);
  int covered = 0;
  for (int experiment = 0; experiment < 400; ++experiment) {
    std::vector<double> draws(25);
    for (double& draw : draws) { draw = static_cast<double>(generator() >> 11U) * 0x1p-53; }
    const auto summary = summarize(times(draws), static_cast<std::uint64_t>(experiment), 0.95, 500);
    covered += summary->low <= Microseconds(0.5) && Microseconds(0.5) <= summary->high ? 1 : 0;
  }
  EXPECT_GE(covered, 364);  // 91 %
  EXPECT_LT(covered, 397);  // an interval that always covers is too wide
}

TEST(Widened, HoldsTheShareToEitherSideAndWhatTrialsSaw) {
  // 10 % of 200: 180 to 220. The trials reached 225.
  const Summary wide = widened({Microseconds(200), Microseconds(190), Microseconds(225), 0.95, 10}, 0.1);
  EXPECT_EQ(wide, (Summary{Microseconds(200), Microseconds(180), Microseconds(225), 0, 10}));
}

TEST(Widened, HoldsARatioOfWhichEitherSideMayBeOff) {
  // 10 % of either: 0.9 * 0.9 / 1.1 to 0.9 * 1.1 / 0.9. The trials reached 1.2.
  const RatioSummary wide = widened(RatioSummary{0.9, 0.9, 1.2, 0.95, 10}, 0.1);
  EXPECT_DOUBLE_EQ(wide.low, 0.81 / 1.1);
  EXPECT_EQ(wide, (RatioSummary{0.9, wide.low, 1.2, 0, 10}));
  EXPECT_DOUBLE_EQ(widened(RatioSummary{0.9, 0.9, 0.9, 0.95, 10}, 0.1).high, 1.1);
}

TEST(Summarize, NamesWhatIsWrong) {
  EXPECT_EQ(summarize({}, 1).error().message, "samples: got 0 times, expected at least 1");
  EXPECT_EQ(summarize(times({1, std::nan("")}), 1).error().message, "samples[1]: nan us, expected a finite time of at least 0 us");
  EXPECT_EQ(summarize(times({-1}), 1).error().message, "samples[0]: -1 us, expected a finite time of at least 0 us");
  EXPECT_EQ(summarize(times({1}), 1, 1.0).error().message, "confidence: 1, expected a number between 0 and 1, both excluded");
  EXPECT_FALSE(summarize(times({1}), 1, std::nan("")).ok());
  EXPECT_EQ(summarize(times({1}), 1, 0.95, 0).error().message, "resamples: 0, expected at least 1");
  EXPECT_EQ(summarize({}, 1).error().kind, ErrorKind::invalid_input);
}

RC_GTEST_PROP(Summarize, IntervalHoldsTheMedianAndStaysInTheRange, (std::uint64_t seed)) {
  const auto samples = *any_times();
  const double confidence = *rc::gen::elementOf(std::vector<double>{0.01, 0.5, 0.9, 0.95, 0.999});
  const auto summary = summarize(samples, seed, confidence, 50);
  const auto [least, greatest] = std::minmax_element(samples.begin(), samples.end());
  RC_ASSERT(*least <= summary->low);
  RC_ASSERT(summary->low <= summary->median);
  RC_ASSERT(summary->median <= summary->high);
  RC_ASSERT(summary->high <= *greatest);
}

RC_GTEST_PROP(Summarize, DoesNotDependOnTheOrderOfSamples, (std::uint64_t seed)) {
  const auto samples = *any_times();
  auto shuffled = samples;
  std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937_64(seed));
  RC_ASSERT(*summarize(samples, seed, 0.95, 50) == *summarize(shuffled, seed, 0.95, 50));
}

RC_GTEST_PROP(Summarize, ScalesWithItsSamples, (std::uint64_t seed)) {
  const auto samples = *any_times();
  const double factor = std::ldexp(1.0, *rc::gen::inRange(-10, 11));  // a power of two: no rounding
  auto scaled = samples;
  for (Microseconds& sample : scaled) { sample *= factor; }
  const auto before = summarize(samples, seed, 0.95, 50);
  const auto after = summarize(scaled, seed, 0.95, 50);
  RC_ASSERT(after->median == before->median * factor);
  RC_ASSERT(after->low == before->low * factor);
  RC_ASSERT(after->high == before->high * factor);
}

TEST(SummarizeRatio, DividesTheMedians) {
  // medians 30 and 60
  const auto ratio = summarize_ratio(times({20, 30, 40}), times({50, 60, 70}), 1);
  ASSERT_TRUE(ratio.ok());
  EXPECT_DOUBLE_EQ(ratio->median, 0.5);
  EXPECT_EQ(ratio->trials, 3);
}

TEST(SummarizeRatio, DriftThatBothSetsShareDoesNotWidenTheInterval) {
  // Every round is slower than the one before, the ratio is 3/4 in each (exact: multiples of 4); unpaired, the interval would
  // reach from about 3/8 to 3/2.
  std::vector<double> sequential;
  std::vector<double> overlapped;
  for (int round = 1; round <= 15; ++round) {
    sequential.push_back(4.0 * round);
    overlapped.push_back(3.0 * round);
  }
  const auto ratio = summarize_ratio(times(overlapped), times(sequential), 1);
  EXPECT_EQ(ratio->low, 0.75);
  EXPECT_EQ(ratio->median, 0.75);
  EXPECT_EQ(ratio->high, 0.75);
}

TEST(SummarizeRatio, LeavesOutAsMuchOnEitherSide) {
  // The median of five draws is the least of five when three or more draws are: (10 * 4^2 + 5 * 4 + 1) / 5^5 = 5.8 %. With 92 %
  // each side leaves 4 % out and keeps it, with 80 % it leaves 10 % out and does not. The second least is reached by 31.7 %.
  const auto above = times({1, 2, 3, 4, 5});
  const auto below = times({1, 1, 1, 1, 1});
  const auto wide = summarize_ratio(above, below, 1, 0.92);
  EXPECT_EQ(wide->low, 1.0);
  EXPECT_EQ(wide->high, 5.0);
  const auto narrow = summarize_ratio(above, below, 1, 0.8);
  EXPECT_EQ(narrow->low, 2.0);
  EXPECT_EQ(narrow->high, 4.0);
}

TEST(SummarizeRatio, NamesWhatIsWrong) {
  EXPECT_EQ(summarize_ratio(times({1, 2}), times({1}), 1).error().message,
            "denominator: 1 times, expected 2, as many as the numerator");
  EXPECT_EQ(summarize_ratio(times({1}), times({0}), 1).error().message, "denominator: a time of 0 us, expected times above 0 us");
  EXPECT_EQ(summarize_ratio({}, {}, 1).error().message, "numerator: got 0 times, expected at least 1");
  EXPECT_FALSE(summarize_ratio(times({1}), times({std::numeric_limits<double>::infinity()}), 1).ok());
}

RC_GTEST_PROP(SummarizeRatio, IntervalHoldsTheRatioWhateverTheOrderOfPairs, (std::uint64_t seed)) {
  const auto above = *any_times();
  const auto below = *rc::gen::map(any_times(), [&](std::vector<Microseconds> samples) {
    samples.resize(above.size(), Microseconds(1));
    return samples;
  });
  const auto ratio = summarize_ratio(above, below, seed, 0.95, 50);
  RC_ASSERT(ratio->low <= ratio->median);
  RC_ASSERT(ratio->median <= ratio->high);
  RC_ASSERT(ratio->median == summarize(above, seed)->median / summarize(below, seed)->median);

  auto reversed_above = above;
  auto reversed_below = below;
  std::reverse(reversed_above.begin(), reversed_above.end());
  std::reverse(reversed_below.begin(), reversed_below.end());
  RC_ASSERT(*summarize_ratio(reversed_above, reversed_below, seed, 0.95, 50) == *ratio);
}

}  // namespace
}  // namespace elbowroom
