#include "explain/what_if.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "explain/meetings.hpp"
#include "explain/replay.hpp"
#include "unit/explain/trace_text.hpp"

namespace elbowroom::explain {
namespace {

using test::kAllGather;
using test::kAllReduce;
using test::TraceText;
using ::testing::HasSubstr;

Time replayed(const RankView& view, const Conditions& conditions) {
  return Replay(view).length(view.steps.windows.at(0), conditions);
}

/// 100 us of computation, an all-reduce of 200 that follows it by 3 us, and 94 us of what waits for that, 3 us behind it.
TraceText in_a_row() {
  TraceText text;
  text.kernel("first", 7, 100, 200, 90).kernel(kAllReduce, 20, 203, 403, 120).kernel("second", 7, 406, 500, 130);
  return text;
}

TEST(Replay, FollowsWhatIsSeenToWait) {
  const RankView view = view_of(in_a_row().trace());
  EXPECT_EQ(replayed(view, {}), 400'000);
  EXPECT_EQ(replayed(view, {.transfer = 0.5}), 300'000);
  EXPECT_EQ(replayed(view, {.transfer = 0}), 200'000);
  EXPECT_EQ(replayed(view, {.host_ahead = true}), 400'000) << "all was launched in time";
}

TEST(Replay, FollowsRecordedWaitsThatHeldUpNobody) {
  // `second` waits for the all-reduce, which ended 40 us before its stream was free. With a transfer three times as long the
  // all-reduce ends at 210 + 180 = 390, and `second` begins right behind it: as `first` and the all-reduce do, 10 us later.
  const auto wait = [](int stream, int at, int on, int event) {
    return fmt::format(
        R"({{"ph": "X", "cat": "cuda_sync", "name": "Stream Wait Event", "pid": 0, "tid": {0}, "ts": {1}, "dur": 1, "args": {{"device": 0, "stream": {0}, "correlation": 1, "wait_on_stream": {2}, "wait_on_cuda_event_record_corr_id": {3}}}}})",
        stream, at, on, event);
  };
  TraceText text;
  text.kernel("first", 7, 100, 200, 90).event(wait(20, 91, 7, 101)).kernel(kAllReduce, 20, 210, 270, 92);
  text.kernel("later", 7, 200, 310, 93).event(wait(7, 94, 20, 102)).kernel("second", 7, 310, 400, 95);
  const RankView view = view_of(text.trace());
  EXPECT_EQ(replayed(view, {}), 300'000);
  EXPECT_EQ(replayed(view, {.transfer = 3}), 390'000) << "400 less 310, behind 390 and 10 of handing over";
}

TEST(Replay, HasTheHostLaunchAfterWhatItWaitedFor) {
  // The host waits for the all-reduce and launches `second` 10 us later, which begins 5 us behind its launch. At half the transfer
  // the host comes 50 us earlier.
  TraceText text;
  text.kernel(kAllReduce, 20, 100, 200, 95).kernel("second", 7, 215, 300, 210);
  text.event(
      R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamSynchronize", "pid": 7, "tid": 7, "ts": 150, "dur": 55, "args": {"correlation": 900}})");
  const RankView view = view_of(text.trace());
  EXPECT_EQ(replayed(view, {}), 200'000);
  EXPECT_EQ(replayed(view, {.transfer = 0.5}), 150'000);
}

TEST(Replay, BeginsCollectivesFirst) {
  // The all-reduce depends on `first` at most, and `later`, launched after it, took the SMs for 400 us. First it would end at 401.
  TraceText text;
  text.kernel("first", 7, 100, 200, 90).kernel(kAllReduce, 20, 600, 800, 120);
  text.kernel("later", 7, 200, 600, 125).kernel("second", 7, 801, 1000, 130);
  const RankView view = view_of(text.trace());
  EXPECT_EQ(replayed(view, {}), 901'000) << "handing over takes 1 us, and the measured wait is 400";
  EXPECT_EQ(replayed(view, {.communication_first = true}), 699'000) << "100 + 400 + 199";
}

TEST(Replay, GivesCollectivesStreamsOfTheirOwn) {
  // The all-reduce queues behind the gather until 401. On a stream of its own it would run from 201 to 400, and `second` waits for
  // `later`, which ends at 400, and for the all-reduce, 1 us more.
  TraceText text;
  text.kernel("first", 7, 100, 200, 90).kernel(kAllGather, 20, 200, 400, 100).kernel(kAllReduce, 20, 401, 600, 102);
  text.kernel("later", 7, 200, 400, 105).kernel("second", 7, 601, 900, 110);
  const RankView view = view_of(text.trace());
  EXPECT_NEAR(static_cast<double>(replayed(view, {})), 800'000, 1'000);
  EXPECT_NEAR(static_cast<double>(replayed(view, {.own_streams = true})), 600'000, 1'000);
}

TEST(Replay, GivesKernelsTheirPaceAlone) {
  // The second gemm takes 150 us beside the all-reduce, the first 100 alone. The all-reduce, until 340, is then what ends last.
  TraceText text;
  text.kernel("gemm", 7, 100, 200, 90).kernel("gemm", 7, 200, 350, 95).kernel(kAllReduce, 20, 200, 340, 93);
  const RankView view = view_of(text.trace());
  EXPECT_EQ(replayed(view, {}), 250'000);
  EXPECT_EQ(replayed(view, {.undisturbed = true}), 240'000);
}

const WhatIf& change_of(const WhatIfs& all, const std::string& name) {
  return *std::find_if(all.changes.begin(), all.changes.end(), [&](const WhatIf& one) { return one.change == name; });
}

TEST(WhatIf, SaysWhatALinkAndPunctualPeersWouldMakeOfAStep) {
  // As in_a_row, and on the other rank the all-reduce lasts 50 us: it came 150 us late. Half of 50 are 25, of 400 us.
  TraceText there;
  there.rank(1, 2).kernel("first", 7, 100, 350, 90).kernel(kAllReduce, 20, 353, 403, 120).kernel("second", 7, 406, 500, 130);
  std::vector<RankView> views;
  views.push_back(view_of(in_a_row().rank(0, 2).trace()));
  views.push_back(view_of(there.trace()));
  add_waiting(meet(views), views);
  views.pop_back();
  const WhatIfs found = what_if(views);
  EXPECT_EQ(found.replay_error, 0);
  EXPECT_EQ(change_of(found, "link=2").step.median, Microseconds(375));
  EXPECT_EQ(change_of(found, "peers_on_time").step.median, Microseconds(250));
  EXPECT_FALSE(change_of(found, "link=2").ceiling);
  EXPECT_EQ(change_of(found, "host_ahead").refused, "the step waits for nothing that this changes");
  EXPECT_EQ(change_of(found, "priority").refused, "no collective waited for SMs that later computation took");
  EXPECT_EQ(change_of(found, "own_communicator").refused, "no collective queued behind another");
}

TEST(WhatIf, RefusesAllWhereTheReplayMissesTheSteps) {
  // `second` begins 300 us behind everything. In the replay it waits for `first` alone, and the all-reduce ends last: 303 us of
  // 700.
  TraceText text;
  text.kernel("first", 7, 100, 200, 90).kernel(kAllReduce, 20, 203, 403, 120).kernel("second", 7, 703, 800, 130);
  std::vector<RankView> views;
  views.push_back(view_of(text.trace()));
  const WhatIfs found = what_if(views);
  ASSERT_FALSE(found.changes.empty());
  for (const WhatIf& one : found.changes) { EXPECT_THAT(one.refused, HasSubstr("the replay misses steps by 57 %")); }
}

TEST(WhatIf, SaysNothingWithoutCommunication) {
  TraceText text;
  std::vector<RankView> views;
  views.push_back(view_of(text.kernel("first", 7, 100, 200, 90).trace()));
  EXPECT_TRUE(what_if(views).changes.empty());
}

}  // namespace
}  // namespace elbowroom::explain
