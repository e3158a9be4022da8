#include "elbowroom/experiment/search.hpp"

#include <gtest/gtest.h>

#include "elbowroom/plan/controls.hpp"
#include "elbowroom/plan/program.hpp"
#include "unit/experiment/cases.hpp"

namespace elbowroom {
namespace {

using testing::scripted;
using testing::simulator;
using testing::small_case;

struct Searched {
  explicit Searched(CaseTrials made) : trials(std::move(made)), space(*trials.site()), tuner(begin_search({}, space, predict)) {}

  CaseTrials trials;
  CandidateSpace space;
  Predictor predict;
  Tuner tuner;
};

const auto kGoOn = [](const Tuner&) { return Status(); };

TEST(Search, EndsWithAChoiceThatIsNoSlowerThanTwoStreams) {
  const auto backend = simulator();
  Searched searched(*CaseTrials::prepare(*backend, small_case()));
  ASSERT_TRUE(search(searched.tuner, searched.trials, kGoOn));
  EXPECT_NE(searched.tuner.ending(), TunerEnding::running);
  const auto choice = searched.tuner.choice();
  ASSERT_TRUE(choice);
  const MeasuredCandidate& chosen = searched.tuner.candidates()[*choice];
  EXPECT_LE(chosen.interval().median, *searched.trials.run(Order::concurrent, plain_plan(searched.space.site())));
  // Every trial was of the candidate that it is told of.
  EXPECT_EQ(chosen.times.front(), *searched.trials.run(order_of(chosen.candidate.scheme), chosen.candidate.plan));
}

TEST(Search, DropsWhatTheMachineRefuses) {
  Searched searched(scripted({invalid_input("not on this machine"), Microseconds(10)}));
  ASSERT_TRUE(search(searched.tuner, searched.trials, kGoOn));
  int refused = 0;
  for (const MeasuredCandidate& measured : searched.tuner.candidates()) {
    if (measured.dropped == "not on this machine") { ++refused; }
  }
  EXPECT_EQ(refused, 1);
}

TEST(Search, EndsWithADeviceError) {
  Searched searched(scripted({Microseconds(10), failed("the device is gone")}));
  const Status ended = search(searched.tuner, searched.trials, kGoOn);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message, "the device is gone");
  EXPECT_EQ(searched.tuner.trials(), 1);
}

TEST(Search, GoesOnFromWhereItWasEnded) {
  const auto backend = simulator();
  Searched whole(*CaseTrials::prepare(*backend, small_case()));
  ASSERT_TRUE(search(whole.tuner, whole.trials, kGoOn));
  Searched parted(*CaseTrials::prepare(*backend, small_case()));
  const Status ended = search(parted.tuner, parted.trials,
                              [](const Tuner& tuner) { return tuner.trials() < 5 ? Status() : Status(failed("interrupted")); });
  ASSERT_FALSE(ended);
  EXPECT_EQ(parted.tuner.trials(), 5);
  ASSERT_TRUE(search(parted.tuner, parted.trials, kGoOn));
  EXPECT_EQ(parted.tuner.trials(), whole.tuner.trials());
  EXPECT_EQ(parted.tuner.choice(), whole.tuner.choice());
}

}  // namespace
}  // namespace elbowroom
