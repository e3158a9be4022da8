#include "recorder/recording.hpp"

#include <gtest/gtest.h>

namespace elbowroom::recorder {
namespace {

Call call_of(Time begin, Time end, std::uint32_t correlation) {
  Call call;
  call.begin = begin;
  call.end = end;
  call.correlation = correlation;
  return call;
}

TEST(Recording, DropsWhatHadEndedAndTheMarksOfCallsThatAreGone) {
  Recording recording;
  // Calls of 10 ns from 100 on: those that end at 110, 120 and 130 have ended before 131, the fourth ends at 140.
  for (std::uint32_t i = 0; i < 4; ++i) {
    recording.calls.push_back(call_of(100 + 10 * i, 110 + 10 * i, 7 + i));
    recording.marks.push_back({7 + i, 1, 1, 1});
  }
  Kernel kernel;
  kernel.begin = 120;
  kernel.end = 131;
  recording.kernels.push_back(kernel);
  recording.drop_before(131);
  ASSERT_EQ(recording.calls.size(), 1U);
  EXPECT_EQ(recording.calls.front().correlation, 10U);
  ASSERT_EQ(recording.marks.size(), 1U);
  EXPECT_EQ(recording.marks.front().correlation, 10U);
  EXPECT_EQ(recording.kernels.size(), 1U) << "it ended at that time, not before";
  recording.drop_before(141);
  EXPECT_EQ(recording.size(), 0U) << "no call is left that a mark belongs to";
}

}  // namespace
}  // namespace elbowroom::recorder
