#include "explain/split.hpp"

#include <gtest/gtest.h>

#include "unit/explain/trace_text.hpp"

namespace elbowroom::explain {
namespace {

using test::kAllReduce;
using test::TraceText;

// us      100    150    200    300 302    400 446 450  500      600    700
// 7       first---------------->   second-->      third->       fourth-->
// 20             all-reduce------->
// launched 90    120               130            446           300
RankView one_step() {
  TraceText text;
  text.kernel("first", 7, 100, 200, 90).kernel(kAllReduce, 20, 150, 300, 120).kernel("second", 7, 302, 400, 130);
  text.kernel("third", 7, 450, 500, 446).kernel("fourth", 7, 600, 700, 300);
  return view_of(text.trace());
}

TEST(Split, PutsEachInstantIntoOnePart) {
  const RankView view = one_step();
  ASSERT_EQ(view.steps.windows.size(), 1U);
  const Split split = split_of(view, view.steps.windows[0]);
  EXPECT_EQ(split.step, 600'000);
  EXPECT_EQ(split.compute, (100 + 98 + 50 + 100) * 1000);
  EXPECT_EQ(split.communication, 150'000);
  EXPECT_EQ(split.exposed, 100'000);           // 200..300
  EXPECT_EQ(split.waiting_known, 2'000);       // 300..302: launched long before, and begins at once
  EXPECT_EQ(split.host_not_launched, 50'000);  // 400..450: launched at 446, and the way to the device is the launch's
  EXPECT_EQ(split.waiting_unknown, 100'000);   // 500..600: launched at 300
  EXPECT_EQ(split.compute + split.exposed + split.copies + split.idle(), split.step);
}

// The host is within the call, which loads the kernel's code, from 105 to 195.
TEST(Split, TakesACallThatLoadsCodeForTimeOfTheHost) {
  TraceText text;
  text.kernel("first", 7, 0, 100, 0).kernel("second", 7, 200, 300, std::nullopt);
  text.event(
      R"({"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 7, "tid": 7, "ts": 105, "dur": 90, "args": {"correlation": 102}})");
  const RankView view = view_of(text.trace());
  const Split split = split_of(view, view.steps.windows[0]);
  EXPECT_EQ(split.host_not_launched, 100'000);  // 195..200 is the way to the device
  EXPECT_EQ(split.waiting_unknown, 0);
}

TEST(Split, CountsCopiesThatRunAlone) {
  TraceText text;
  text.kernel("first", 7, 0, 100, 0).copy("Memcpy HtoD (Pinned -> Device)", 9, 50, 180, 4096, 40).kernel("second", 7, 200, 300, 10);
  const RankView view = view_of(text.trace());
  const Split split = split_of(view, view.steps.windows[0]);
  EXPECT_EQ(split.copies, 80'000);  // 100..180
  EXPECT_EQ(split.idle(), 20'000);
}

TEST(Split, TakesARecordedWaitForAKnownProducer) {
  TraceText text;
  text.kernel("first", 7, 0, 100, 0);
  text.event(
      R"({"ph": "X", "cat": "cuda_sync", "name": "Stream Wait Event", "pid": 0, "tid": 7, "ts": 15, "dur": 0, "args": {"stream": 7, "wait_on_stream": 9, "wait_on_cuda_event_record_corr_id": 5}})");
  text.kernel("second", 7, 200, 300, 20);
  const RankView view = view_of(text.trace());
  const Split split = split_of(view, view.steps.windows[0]);
  EXPECT_EQ(split.waiting_known, 100'000);
  EXPECT_EQ(split.waiting_unknown, 0);
}

}  // namespace
}  // namespace elbowroom::explain
