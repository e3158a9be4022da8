#include "elbowroom/energy/span.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace elbowroom {
namespace {

constexpr Microseconds kTenth{1e5};

TEST(Spans, AreThirtySecondsWhereTheCounterMovesEveryTenthOfASecond) {
  const Result<EnergySpans> spans = plan_spans(kTenth, std::nullopt);
  ASSERT_TRUE(spans);
  EXPECT_NEAR(spans->span.count(), 30e6, 1);
  EXPECT_NEAR(spans->warm_up.count(), 3e6, 1);
  EXPECT_NEAR(spans->cool_down.count(), 3e6, 1);
  EXPECT_NEAR(spans->idle.count(), 6e6, 1);
  EXPECT_NEAR(spans->sampling.count(), 20e3, 1);
}

TEST(Spans, OfAFastCounterAreASecond) {
  // 300 ms would do for one that moves every millisecond; a fifth of that would be read too often.
  const Result<EnergySpans> spans = plan_spans(Microseconds(1000), std::nullopt);
  ASSERT_TRUE(spans);
  EXPECT_NEAR(spans->span.count(), 1e6, 1);
  EXPECT_NEAR(spans->sampling.count(), 500, 1);
}

TEST(Spans, AreAsLongAsAskedFor) {
  const Result<EnergySpans> spans = plan_spans(kTenth, Microseconds(5e6));
  ASSERT_TRUE(spans);
  EXPECT_EQ(spans->span, Microseconds(5e6));
  // 22 moves of the counter are more than a fifth of 5 s.
  EXPECT_NEAR(spans->idle.count(), 2.2e6, 1);
}

TEST(Spans, AreRefusedWhereTheyHoldTooFewUpdates) {
  const Result<EnergySpans> spans = plan_spans(kTenth, Microseconds(2e6));
  ASSERT_FALSE(spans);
  EXPECT_EQ(spans.error().message, "2 s, expected at least 2.2 s: the counter moves every 100 ms");
}

}  // namespace
}  // namespace elbowroom
