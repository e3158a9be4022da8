#include "report/progress.hpp"

#include <gtest/gtest.h>

namespace elbowroom {
namespace {

Microseconds s(double seconds) { return Microseconds(1e6 * seconds); }

// Kinds: preparing (says nothing), runs (weight 1), checks (weight 3).
constexpr std::size_t kPrepare = 0;
constexpr std::size_t kRun = 1;
constexpr std::size_t kCheck = 2;

struct Estimate : ProgressEstimate {
  Estimate() : ProgressEstimate({0, 1, 3}, s(100)) {}
};

TEST(ProgressEstimate, KnowsNothingBeforeAStepIsOver) {
  Estimate estimate;
  estimate.expect(kRun, 4);
  EXPECT_FALSE(estimate.left(s(100)));
  estimate.begin(kPrepare, s(100));
  EXPECT_FALSE(estimate.left(s(105)));
  estimate.begin(kRun, s(110));  // what preparing took says nothing of a run
  EXPECT_FALSE(estimate.left(s(111)));
}

TEST(ProgressEstimate, TakesStepsToLastAsThoseOfTheirKindDid) {
  Estimate estimate;
  estimate.expect(kRun, 4);
  estimate.begin(kRun, s(110));
  estimate.begin(kRun, s(112));  // one took 2 s; this one and two more are left
  EXPECT_EQ(estimate.left(s(112)), s(6));
  EXPECT_EQ(estimate.left(s(113.5)), s(4.5));
  // It takes longer than the first did: what is left of it is not negative. Two runs of 2 s are.
  EXPECT_EQ(estimate.left(s(120)), s(4));
  estimate.begin(kRun, s(116));  // 2 s and 4 s: 3 s each. This one and one more.
  EXPECT_EQ(estimate.left(s(116)), s(6));
}

TEST(ProgressEstimate, WeighsKindsOfWhichNoneIsOver) {
  Estimate estimate;
  estimate.expect(kRun, 1);
  estimate.expect(kCheck, 2);
  estimate.begin(kRun, s(0));
  estimate.begin(kCheck, s(5));  // a run took 5 s, so a check takes 15: this one and another
  EXPECT_EQ(estimate.left(s(5)), s(30));
  estimate.begin(kCheck, s(7));  // it took 2
  EXPECT_EQ(estimate.left(s(7)), s(2));
}

TEST(ProgressEstimate, NothingIsLeftOfKindsThatWillNotCome) {
  Estimate estimate;
  estimate.expect(kRun, 3);
  estimate.begin(kRun, s(0));
  estimate.begin(kRun, s(1));
  estimate.expect(kRun, 0);
  EXPECT_EQ(estimate.left(s(1.25)), s(0.75));
}

TEST(Progress, SharesAreOfTime) {
  EXPECT_DOUBLE_EQ(share_of(s(3), s(1)), 0.75);
  EXPECT_DOUBLE_EQ(share_of(s(0), s(0)), 0);
  EXPECT_DOUBLE_EQ(share_of(s(2), s(0)), 1);
}

// Two cases took 10 s together, this one will take 2 + 6 s: 6 s each. Three more follow: 6 + 18.
TEST(Progress, OtherCasesTakeWhatTheseTook) { EXPECT_EQ(left_in_all(s(10), 2, s(2), s(6), 3), s(24)); }

TEST(Progress, SaysDurationsAsPeopleDo) {
  EXPECT_EQ(duration_words(s(0.4)), "0 s");
  EXPECT_EQ(duration_words(s(59.4)), "59 s");
  EXPECT_EQ(duration_words(s(59.6)), "1 min 0 s");
  EXPECT_EQ(duration_words(s(200)), "3 min 20 s");
  EXPECT_EQ(duration_words(s(3900)), "1 h 5 min");
}

TEST(Progress, IsOneLine) {
  CaseProgress progress{2, 3, "hgemm-ar", s(3), std::nullopt, std::nullopt};
  EXPECT_EQ(progress_text(progress, "preparing"), "[2/3] hgemm-ar preparing");
  progress.left = s(1);
  progress.left_in_all = s(70);
  EXPECT_EQ(progress_text(progress, "timing"), "[2/3] hgemm-ar 75 % timing, 1 s left, 1 min 10 s for all");
}

}  // namespace
}  // namespace elbowroom
