#include "explain/meetings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "unit/explain/trace_text.hpp"

namespace elbowroom::explain {
namespace {

using test::kAllGather;
using test::kAllReduce;
using test::kReduceScatter;
using test::TraceText;

TEST(Meetings, AreByOrderWithinAStream) {
  // The clocks are an hour apart. Rank 1 comes last to the gather, by 30 us, and rank 0 to the all-reduce, by 10.
  const std::int64_t hour = 3'600'000'000;
  TraceText first;
  first.rank(0, 2).kernel("a", 7, 0, 1, 0).kernel(kAllGather, 20, 10, 100, 1).kernel(kAllReduce, 20, 200, 250, 2);
  TraceText second;
  second.rank(1, 2).kernel("a", 7, hour, hour + 1, hour);
  second.kernel(kAllGather, 33, hour + 40, hour + 100, hour + 1).kernel(kAllReduce, 33, hour + 190, hour + 250, hour + 2);
  std::vector<RankView> views;
  views.push_back(view_of(first.trace()));
  views.push_back(view_of(second.trace()));
  const std::vector<Meeting> meetings = meet(views);
  ASSERT_EQ(meetings.size(), 2U);
  EXPECT_EQ(meetings[0].last, 1U);
  EXPECT_EQ(meetings[0].transfer, 60'000);
  EXPECT_EQ(meetings[0].waited, 30'000);
  EXPECT_EQ(meetings[1].last, 0U);
  EXPECT_EQ(meetings[1].transfer, 50'000);
  EXPECT_EQ(meetings[1].waited, 10'000);
}

TEST(Meetings, FindTheShiftWhereATraceBeginsLater) {
  // Rank 1's trace lacks the first two of five all-reduces, whose ends lie 100, 300, 150 and 400 us apart.
  const std::vector<std::int64_t> ends{100, 200, 500, 650, 1050};
  TraceText first, second;
  first.rank(0, 2).kernel("a", 7, 0, 1, 0);
  second.rank(1, 2).kernel("a", 7, 0, 1, 0);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    first.kernel(kAllReduce, 20, ends[i] - 50, ends[i], 0);
    if (i >= 2) { second.kernel(kAllReduce, 20, 7 + ends[i] - 40, 7 + ends[i], 0); }
  }
  std::vector<RankView> views;
  views.push_back(view_of(first.trace()));
  views.push_back(view_of(second.trace()));
  const std::vector<Meeting> meetings = meet(views);
  ASSERT_EQ(meetings.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(meetings[i].participants[0].collective, i + 2);
    EXPECT_EQ(meetings[i].participants[1].collective, i);
  }
}

TEST(Meetings, AreAtOneTimeWhereRanksHaveOneClock) {
  // Five all-reduces 100 us apart, of which rank 0's recorder saw the first four and rank 1's the last four: equal counts, evenly
  // apart.
  TraceText first, second;
  first.rank(0, 2).recorder("boot").kernel("a", 7, 0, 1, 0);
  second.rank(1, 2).recorder("boot").kernel("a", 7, 0, 1, 0);
  for (std::int64_t i = 0; i < 5; ++i) {
    if (i < 4) { first.kernel(kAllReduce, 20, 100 * i + 50, 100 * i + 99, 0); }
    if (i > 0) { second.kernel(kAllReduce, 20, 100 * i + 60, 100 * i + 98, 0); }
  }
  std::vector<RankView> views;
  views.push_back(view_of(first.trace()));
  views.push_back(view_of(second.trace()));
  const std::vector<Meeting> meetings = meet(views);
  ASSERT_EQ(meetings.size(), 3U);
  EXPECT_EQ(meetings[0].participants[0].collective, 1U);
  EXPECT_EQ(meetings[0].participants[1].collective, 0U);
  EXPECT_EQ(meetings[0].waited, 11'000) << "49 us and 38";
}

TEST(Meetings, TakeStreamsByWhatTheyDo) {
  // Gathers and scatters have a stream each. Rank 0's recording begins with a scatter and rank 1's with a gather; both lack names.
  TraceText first, second;
  first.rank(0, 2).kernel("a", 7, 0, 1, 0).kernel(kReduceScatter, 26, 20, 90, 0).kernel(kAllGather, 22, 100, 190, 0);
  second.rank(1, 2).kernel("a", 7, 0, 1, 0).kernel(kAllGather, 22, 110, 190, 0).kernel(kReduceScatter, 26, 200, 290, 0);
  first.kernel(kReduceScatter, 26, 210, 290, 0);
  std::vector<RankView> views;
  views.push_back(view_of(first.trace()));
  views.push_back(view_of(second.trace()));
  const std::vector<Meeting> meetings = meet(views);
  ASSERT_EQ(meetings.size(), 2U);
  EXPECT_EQ(meetings[0].transfer, 80'000);  // the gather: 90 us on rank 0, 80 on rank 1
}

TEST(Meetings, GoBySequenceNumbersWhereAllHaveThem) {
  const auto note = [](int number) {
    return fmt::format(R"("Collective name": "allreduce", "Process Group Name": "3", "Seq": {})", number);
  };
  TraceText first, second;
  first.rank(0, 2).kernel("a", 7, 0, 1, 0).kernel(kAllReduce, 20, 10, 20, 0, note(4)).kernel(kAllReduce, 20, 30, 40, 0, note(5));
  second.rank(1, 2).kernel("a", 7, 0, 1, 0).kernel(kAllReduce, 20, 30, 35, 0, note(5)).kernel(kAllReduce, 20, 50, 60, 0, note(6));
  std::vector<RankView> views;
  views.push_back(view_of(first.trace()));
  views.push_back(view_of(second.trace()));
  const std::vector<Meeting> meetings = meet(views);
  ASSERT_EQ(meetings.size(), 1U);
  EXPECT_EQ(meetings[0].participants[0].collective, 1U);
  EXPECT_EQ(meetings[0].participants[1].collective, 0U);
}

}  // namespace
}  // namespace elbowroom::explain
