#include "explain/what_if.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "explain/block_budget.hpp"
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

TEST(Replay, HasTheGateHoldUpWhatTookTheSms) {
  // The same: `later` begins 2 us later, for two ways of handing over, and ends at 602. `second`, 1 us behind, takes 199.
  TraceText text;
  text.kernel("first", 7, 100, 200, 90).kernel(kAllReduce, 20, 600, 800, 120);
  text.kernel("later", 7, 200, 600, 125).kernel("second", 7, 801, 1000, 130);
  const RankView view = view_of(text.trace());
  EXPECT_EQ(replayed(view, {.gate = true}), 701'000) << "699 by priority alone";
}

const WhatIf& change_of(const WhatIfs& all, const std::string& name) {
  return *std::find_if(all.changes.begin(), all.changes.end(), [&](const WhatIf& one) { return one.change == name; });
}

/// The shape of a ring, as arguments of its kernel.
std::string ring(int blocks) {
  return fmt::format(R"("registers per thread": 96, "shared memory": 82240, "grid": [{}, 1, 1], "block": [544, 1, 1])", blocks);
}

TEST(Replay, CountsNoDelayBeforeTheFirstRow) {
  // The all-reduce was launched 990 us before anything is recorded, and began behind `first`: it takes 1000 to 1300 as it did.
  TraceText text;
  text.kernel("first", 7, 1000, 1100, 500).kernel(kAllReduce, 20, 1103, 1203, 10).kernel("second", 7, 1206, 1300, 600);
  const RankView view = view_of(text.trace());
  EXPECT_NEAR(static_cast<double>(replayed(view, {})), 300'000, 6'000);
}

TEST(BlockBudget, SaysHowFastARingIsOnFewerBlocks) {
  // On an H200 a block sends 512 threads of 90 MB/s, which are more than the 22 GB/s of an SM. 24 blocks have 528, and the links
  // 357: 16 blocks send 352 of 357, and 8 blocks 176. Of a transfer 38 us are its start.
  TraceText text;
  text.device("NVIDIA H200", 132).kernel("first", 7, 0, 100, 0).kernel(kAllReduce, 20, 100, 1138, 5, ring(24));
  text.kernel(kAllReduce, 20, 1200, 1300, 6, ring(8)).kernel("second", 7, 1400, 1500, 10);
  const RankView view = view_of(text.trace());
  const BlockBudget budget(view);
  EXPECT_EQ(budget.refusal(), "");
  EXPECT_EQ(budget.greatest(), 24);
  const std::size_t large = view.collectives.at(0).row;
  const std::size_t small = view.collectives.at(1).row;
  EXPECT_NEAR(static_cast<double>(budget.transfer(large, 1'038'000, 16)), 38'000 + 1e6 * 357 / 352, 1);
  EXPECT_NEAR(static_cast<double>(budget.transfer(large, 1'038'000, 8)), 38'000 + 1e6 * 357 / 176, 1);
  EXPECT_EQ(budget.transfer(large, 1'038'000, 32), 1'038'000) << "the links are full";
  EXPECT_EQ(budget.transfer(large, 20'000, 8), 20'000) << "all of it is its start";
  EXPECT_EQ(budget.transfer(small, 1'038'000, 16), 1'038'000) << "it has 8 by its size";
  EXPECT_NEAR(budget.rate_ratio(8), 176.0 / 357, 1e-9);
}

TEST(BlockBudget, RefusesWhatIsNotKnown) {
  TraceText text;
  text.kernel("first", 7, 0, 100, 0).kernel(kAllReduce, 20, 100, 1138, 5, ring(24)).kernel("second", 7, 1400, 1500, 10);
  EXPECT_THAT(BlockBudget(view_of(text.trace())).refusal(), HasSubstr("how fast this device sends on fewer blocks is not known"));
  EXPECT_THAT(BlockBudget(view_of(in_a_row().trace())).refusal(), HasSubstr("no collective is a ring of NCCL's"));
}

TEST(WhatIf, SaysWhatFewerBlocksCost) {
  // 24 blocks: 100 us, 1,038 of the ring and 100, one behind the other, in steps of 1,240. At 8 blocks the ring takes
  // 1,000 * 357 / 176 - 1,000 = 1,028.4 us more.
  TraceText text;
  text.device("NVIDIA H200", 132);
  for (int step = 0; step < 3; ++step) {
    const int at = 1240 * step;
    text.kernel("first", 7, at, at + 100, 0).kernel(kAllReduce, 20, at + 101, at + 1139, 1, ring(24));
    text.kernel("second", 7, at + 1140, at + 1239, 2);
  }
  std::vector<RankView> views;
  views.push_back(view_of(text.trace()));
  const WhatIfs found = what_if(views, Microseconds(1240));
  EXPECT_NEAR(change_of(found, "comm_blocks=8").ratio, (1240 + 1028.4) / 1240, 1e-3);
  EXPECT_FALSE(change_of(found, "comm_blocks=8").ceiling);
  EXPECT_THAT(change_of(found, "comm_blocks=32").refused, HasSubstr("waits for nothing that this changes"));
  EXPECT_THAT(change_of(found, "symmetric_memory").refused, HasSubstr("no kernel runs both beside communication and alone"));
  EXPECT_THAT(change_of(found, "gate").refused, HasSubstr("no collective waited for SMs"));
}

TEST(Replay, SlowsKernelsAsLongAsCollectivesRun) {
  // A gemm takes 100 us alone and 150 beside the all-reduce, as the second and the third do; 1 us is between two. With a transfer
  // of 362.4 us instead of 302 the all-reduce runs until 462.4. The fourth begins at 403: in the 59.4 us beside it gets done what
  // takes 39.6 alone, and ends 19.8 us later.
  TraceText text;
  text.kernel("gemm", 7, 0, 100, 0).kernel(kAllReduce, 20, 100, 402, 1).kernel("gemm", 7, 101, 251, 2);
  text.kernel("gemm", 7, 252, 402, 3).kernel("gemm", 7, 403, 503, 4).kernel("last", 7, 504, 514, 5);
  const RankView view = view_of(text.trace());
  EXPECT_NEAR(static_cast<double>(replayed(view, {.by_class = true})), 514'000, 2);
  EXPECT_NEAR(static_cast<double>(replayed(view, {.transfer = 1.2, .by_class = true})), 533'800, 2);
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

/// As in_a_row, and on the other rank the all-reduce lasts 50 us: it came 150 us late. Its step ends at `end`, in us.
std::vector<RankView> with_a_late_rank(int end = 500) {
  TraceText there;
  there.rank(1, 2).kernel("first", 7, 100, 350, 90).kernel(kAllReduce, 20, 353, 403, 120).kernel("second", 7, 406, end, 130);
  std::vector<RankView> views;
  views.push_back(view_of(in_a_row().rank(0, 2).trace()));
  views.push_back(view_of(there.trace()));
  add_waiting(meet(views), views);
  return views;
}

TEST(WhatIf, GoesByTheRankThatGainsLeast) {
  // Without the all-reduce the late rank takes 350 us, the other 200. Where nobody waits the punctual one takes 400 - 150.
  const WhatIfs found = what_if(with_a_late_rank(), Microseconds(400));
  EXPECT_EQ(change_of(found, "no_communication").step.median, Microseconds(350));
  EXPECT_EQ(change_of(found, "no_communication").ratio, 0.875);
  EXPECT_EQ(change_of(found, "peers_on_time").step.median, Microseconds(250));
}

TEST(WhatIf, ComparesWithTheMedianStepOfAllRanks) {
  // One rank's step takes 400 us and the other's 420, of which the all-reduce has 50: 410 in the median, and the change is 50 /
  // 420.
  const WhatIfs found = what_if(with_a_late_rank(520), Microseconds(410));
  EXPECT_DOUBLE_EQ(change_of(found, "no_communication").ratio, 370.0 / 420);
  EXPECT_DOUBLE_EQ(change_of(found, "no_communication").step.median.count(), 410 * 370.0 / 420);
}

TEST(WhatIf, SaysWhatALinkAndPunctualPeersWouldMakeOfAStep) {
  // Half of 50 us are 25, of 400.
  std::vector<RankView> views = with_a_late_rank();
  views.pop_back();
  const WhatIfs found = what_if(views, Microseconds(400));
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
  const WhatIfs found = what_if(views, Microseconds(700));
  ASSERT_FALSE(found.changes.empty());
  for (const WhatIf& one : found.changes) { EXPECT_THAT(one.refused, HasSubstr("the replay misses steps by 57 %")); }
}

TEST(WhatIf, RefusesAGateThatOnlyCosts) {
  // `later` takes the SMs for 15 us, and hides the all-reduce all the same. The gate would hold it up for twice 15 us.
  TraceText text;
  text.kernel("first", 7, 100, 200, 90).kernel(kAllReduce, 20, 215, 400, 120);
  text.kernel("later", 7, 200, 600, 125).kernel("second", 7, 601, 1000, 130);
  std::vector<RankView> views;
  views.push_back(view_of(text.trace()));
  EXPECT_EQ(change_of(what_if(views, Microseconds(900)), "gate").refused, "it costs more than it can gain");
}

TEST(WhatIf, AsksOnlyForTheHostWithoutCommunication) {
  // Launched 400 us late: with the host ahead 100 + 100 us are left of 600, and what the device needs between two kernels.
  TraceText text;
  std::vector<RankView> views;
  views.push_back(view_of(text.kernel("first", 7, 0, 100, 0).kernel("second", 7, 500, 600, 495).trace()));
  const WhatIfs found = what_if(views, Microseconds(600));
  ASSERT_EQ(found.changes.size(), 1U);
  EXPECT_EQ(found.changes[0].change, "host_ahead");
  EXPECT_NEAR(found.changes[0].step.median.count(), 205, 6);
}

}  // namespace
}  // namespace elbowroom::explain
