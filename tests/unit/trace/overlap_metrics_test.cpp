#include "elbowroom/trace/overlap_metrics.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "unit/trace/spans.hpp"

namespace elbowroom {
namespace {

using enum SpanKind;

Span span_of(SpanKind kind, int begin, int end, int device = 0) { return testing::span(kind, device, begin, end); }

Timeline timeline_of(std::vector<Span> spans) { return {Provenance::simulated, std::move(spans)}; }

constexpr int kHorizon = 40;
constexpr int kDevices = 3;

/// Up to 12 spans on whole nanoseconds of [0, kHorizon) on up to kDevices devices, some of them empty.
rc::Gen<Timeline> small_timeline() {
  const auto span = rc::gen::map(rc::gen::tuple(rc::gen::element(compute, communication, other), rc::gen::inRange(0, kHorizon),
                                                rc::gen::inRange(0, kHorizon), rc::gen::inRange(0, kDevices)),
                                 [](const std::tuple<SpanKind, int, int, int>& drawn) {
                                   const auto [kind, a, b, device] = drawn;
                                   return span_of(kind, std::min(a, b), std::max(a, b), device);
                                 });
  return rc::gen::mapcat(rc::gen::inRange<std::size_t>(0, 13), [span](std::size_t count) {
    return rc::gen::map(rc::gen::container<std::vector<Span>>(count, span), timeline_of);
  });
}

/// Asks of every nanosecond of every device what runs in it.
struct Ticks {
  int compute = 0;
  int communication = 0;
  int both = 0;
};

Ticks count_ticks(const Timeline& timeline) {
  Ticks ticks;
  for (int device = 0; device < kDevices; ++device) {
    for (int now = 0; now < kHorizon; ++now) {
      const auto runs = [&](SpanKind kind) {
        return std::any_of(timeline.spans.begin(), timeline.spans.end(), [&](const Span& span) {
          return span.kind == kind && span.device == device && span.begin <= Nanoseconds(now) && Nanoseconds(now) < span.end;
        });
      };
      ticks.compute += runs(compute) ? 1 : 0;
      ticks.communication += runs(communication) ? 1 : 0;
      ticks.both += runs(compute) && runs(communication) ? 1 : 0;
    }
  }
  return ticks;
}

TEST(OverlapRate, IsTheSharedPartOfCommunicationTime) {
  // communication 10..50 (40 ns), compute 30..90: shared 30..50 = 20 ns -> 20/40
  EXPECT_EQ(overlap_rate(timeline_of({span_of(compute, 30, 90), span_of(communication, 10, 50)})), 0.5);
}

TEST(OverlapRate, CountsEveryInstantOnce) {
  // compute 0..20 and 10..40 cover 0..40; communication 30..50 and 35..60 cover 30..60 (30 ns); shared 30..40 -> 10/30
  const Timeline timeline = timeline_of(
      {span_of(compute, 10, 40), span_of(compute, 0, 20), span_of(communication, 35, 60), span_of(communication, 30, 50)});
  EXPECT_DOUBLE_EQ(overlap_rate(timeline).value(), 10.0 / 30.0);
}

TEST(OverlapRate, WeighsDevicesByTheirCommunicationTime) {
  // device 0: 10 of 10 ns shared; device 1: 0 of 30 -> 10/40, not the mean of 1 and 0
  const Timeline timeline = timeline_of({span_of(communication, 0, 10, 0), span_of(compute, 0, 10, 0),
                                         span_of(communication, 0, 30, 1), span_of(compute, 30, 60, 1)});
  EXPECT_EQ(overlap_rate(timeline), 0.25);
}

TEST(OverlapRate, ComputationOfAnotherDeviceDoesNotCount) {
  EXPECT_EQ(overlap_rate(timeline_of({span_of(communication, 0, 10, 0), span_of(compute, 0, 10, 1)})), 0.0);
}

TEST(OverlapRate, OtherKernelsAreNotComputation) {
  EXPECT_EQ(overlap_rate(timeline_of({span_of(communication, 0, 10), span_of(other, 0, 10)})), 0.0);
}

TEST(OverlapRate, IsAbsentWithoutCommunication) {
  EXPECT_EQ(overlap_rate(timeline_of({})), std::nullopt);
  EXPECT_EQ(overlap_rate(timeline_of({span_of(compute, 0, 10)})), std::nullopt);
  EXPECT_EQ(overlap_rate(timeline_of({span_of(communication, 10, 10)})), std::nullopt);
  EXPECT_EQ(overlap_rate(timeline_of({span_of(communication, 20, 10)})), std::nullopt);
}

RC_GTEST_PROP(OverlapRate, AgreesWithAskingEveryNanosecond, ()) {
  const Timeline timeline = *small_timeline();
  const Ticks ticks = count_ticks(timeline);
  const auto rate = overlap_rate(timeline);
  RC_ASSERT(rate.has_value() == (ticks.communication > 0));
  if (rate) { RC_ASSERT(*rate == static_cast<double>(ticks.both) / ticks.communication); }
}

RC_GTEST_PROP(OverlapRate, IsAShare, ()) {
  const auto rate = overlap_rate(*small_timeline());
  RC_ASSERT(rate.value_or(0.0) >= 0.0);
  RC_ASSERT(rate.value_or(0.0) <= 1.0);
}

RC_GTEST_PROP(OverlapRate, DoesNotDependOnTheClocksOrigin, ()) {
  const Timeline timeline = *small_timeline();
  const Nanoseconds origin(*rc::gen::inRange<std::int64_t>(-1'000'000, 1'700'000'000'000'000'000));
  Timeline shifted = timeline;
  for (Span& span : shifted.spans) {
    span.begin += origin;
    span.end += origin;
  }
  RC_ASSERT(overlap_rate(shifted) == overlap_rate(timeline));
}

TEST(Activity, TellsBusyTimeFromTotalTime) {
  // device 0: 0..10 and 5..15 -> busy 15, total 20; device 1: 0..10 -> busy 10, total 10
  const Activity compute_activity = activity(
      timeline_of({span_of(compute, 0, 10), span_of(compute, 5, 15), span_of(compute, 0, 10, 1), span_of(other, 0, 99)}), compute);
  EXPECT_EQ(compute_activity.spans, 3);
  EXPECT_EQ(compute_activity.busy, Nanoseconds(25));
  EXPECT_EQ(compute_activity.total, Nanoseconds(30));
  EXPECT_EQ(compute_activity.mean(), Nanoseconds(10));
}

TEST(Activity, HasNoMeanWithoutSpans) { EXPECT_EQ(activity(timeline_of({}), communication).mean(), std::nullopt); }

RC_GTEST_PROP(Activity, BusyTimeAgreesWithAskingEveryNanosecond, ()) {
  const Timeline timeline = *small_timeline();
  RC_ASSERT(activity(timeline, compute).busy == Nanoseconds(count_ticks(timeline).compute));
  RC_ASSERT(activity(timeline, compute).busy <= activity(timeline, compute).total);
}

TEST(Inflation, IsTheExcessOverTheIsolatedTime) {
  EXPECT_DOUBLE_EQ(inflation(Microseconds(116), Microseconds(100)).value(), 0.16);
  EXPECT_DOUBLE_EQ(inflation(Microseconds(90), Microseconds(100)).value(), -0.1);
  EXPECT_EQ(inflation(Microseconds(1), Microseconds(0)), std::nullopt);
}

TEST(Inflation, ComparesMeanSpans) {
  // alone: 10 and 20 -> mean 15; overlapped: 15, 20, 25 -> mean 20; 20/15 - 1 = 1/3
  const Timeline alone = timeline_of({span_of(communication, 0, 10), span_of(communication, 50, 70)});
  const Timeline overlapped = timeline_of(
      {span_of(communication, 0, 15), span_of(communication, 20, 40), span_of(communication, 50, 75), span_of(compute, 0, 99)});
  EXPECT_NEAR(inflation(overlapped, alone, communication).value(), 1.0 / 3.0, 1e-12);
  EXPECT_EQ(inflation(overlapped, alone, compute), std::nullopt);
  EXPECT_EQ(inflation(alone, overlapped, compute), std::nullopt);
}

TEST(OverlapMetrics, FollowFromTotalTimes) {
  // sequential 100, critical path 60, reached 70: ratio 0.7, reduction 0.3, (100-70)/(100-60) = 0.75
  const OverlapMetrics metrics = overlap_metrics(Microseconds(70), Microseconds(100), Microseconds(60));
  EXPECT_DOUBLE_EQ(metrics.time_ratio.value(), 0.7);
  EXPECT_DOUBLE_EQ(metrics.reduction.value(), 0.3);
  EXPECT_DOUBLE_EQ(metrics.overlap_efficiency.value(), 0.75);
  EXPECT_EQ(metrics.overlap_rate, std::nullopt);
  EXPECT_EQ(metrics.compute_inflation, std::nullopt);
  EXPECT_EQ(metrics.comm_inflation, std::nullopt);
}

TEST(OverlapMetrics, ASlowerSchemeIsNegative) {
  const OverlapMetrics metrics = overlap_metrics(Microseconds(110), Microseconds(100), Microseconds(60));
  EXPECT_NEAR(metrics.reduction.value(), -0.1, 1e-12);
  EXPECT_DOUBLE_EQ(metrics.overlap_efficiency.value(), -0.25);
}

TEST(OverlapMetrics, NothingToGainHasNoEfficiency) {
  EXPECT_EQ(overlap_metrics(Microseconds(90), Microseconds(100), Microseconds(100)).overlap_efficiency, std::nullopt);
  EXPECT_EQ(overlap_metrics(Microseconds(90), Microseconds(100), Microseconds(120)).overlap_efficiency, std::nullopt);
}

TEST(OverlapMetrics, WithoutASequentialTimeThereIsNoRatio) {
  const OverlapMetrics metrics = overlap_metrics(Microseconds(90), Microseconds(0), Microseconds(0));
  EXPECT_EQ(metrics, OverlapMetrics{});
}

RC_GTEST_PROP(OverlapMetrics, RatioAndReductionAddUpToOne, ()) {
  const Microseconds time(*rc::gen::inRange(1, 1'000'000));
  const Microseconds sequential(*rc::gen::inRange(1, 1'000'000));
  const OverlapMetrics metrics = overlap_metrics(time, sequential, sequential / 2);
  RC_ASSERT(std::abs(*metrics.time_ratio + *metrics.reduction - 1.0) < 1e-9 * std::max(1.0, *metrics.time_ratio));
}

TEST(Recordings, FiguresAreMediansOverThem) {
  // Communication of 10 ns each; computation beside it for 2, 8 and 5 ns: rates 0.2, 0.8, 0.5.
  const auto recording = [](int beside) { return timeline_of({span_of(communication, 0, 10), span_of(compute, 0, beside)}); };
  const std::vector<Timeline> three{recording(2), recording(8), recording(5)};
  EXPECT_DOUBLE_EQ(0.5, *overlap_rate(three));
  EXPECT_DOUBLE_EQ(0.35, *overlap_rate(std::vector{recording(2), recording(5)}));
  // Computation took 5 ns in the median against 4 ns alone: 25 % longer.
  EXPECT_DOUBLE_EQ(0.25, *inflation(three, std::vector{recording(4)}, compute));
}

TEST(Recordings, OneThatSaysNothingLeavesNoFigure) {
  const std::vector<Timeline> mixed{timeline_of({span_of(communication, 0, 10)}), timeline_of({})};
  EXPECT_FALSE(overlap_rate(mixed));
  EXPECT_FALSE(overlap_rate(std::vector<Timeline>{}));
  EXPECT_FALSE(inflation(mixed, mixed, communication));
}

}  // namespace
}  // namespace elbowroom
