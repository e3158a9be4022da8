#include "explain/exposures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "explain/meetings.hpp"
#include "unit/explain/trace_text.hpp"

namespace elbowroom::explain {
namespace {

using test::kAllGather;
using test::kAllReduce;
using test::TraceText;
using ::testing::HasSubstr;

struct Found {
  std::vector<Exposure> exposures;
  std::string evidence;  ///< of the first
};

Found in_first_step(const RankView& view) {
  const Interval step = view.steps.windows.at(0);
  const Split split = split_of(view, step);
  Found found{exposures_of(view, step, split), ""};
  if (!found.exposures.empty()) { found.evidence = evidence_of(view, found.exposures.front(), split); }
  return found;
}

void expect_one(const Found& found, Interval time, Cause cause, Time by_cause, Time blocking, const std::string& evidence) {
  ASSERT_EQ(found.exposures.size(), 1U);
  const Exposure& exposure = found.exposures.front();
  EXPECT_EQ(exposure.time, time);
  EXPECT_EQ(to_string(exposure.cause), to_string(cause));
  EXPECT_EQ(exposure.by_cause, by_cause);
  EXPECT_EQ(exposure.blocking, blocking);
  EXPECT_THAT(found.evidence, HasSubstr(evidence));
}

TEST(Cause, IsProgramOrderWhereTheNextKernelWaits) {
  // The second kernel was launched at 130 and has its stream for itself from 200 on: it waits 100 us for the all-reduce.
  TraceText text;
  text.kernel("first", 7, 100, 200, 90).kernel(kAllReduce, 20, 150, 300, 120).kernel("second", 7, 302, 400, 130);
  expect_one(in_first_step(view_of(text.trace())), {200'000, 300'000}, Cause::program_order, 100'000, 100'000,
             "second was launched and waited 100 us for it: stream 7 waits for stream 20");
}

TEST(Cause, IsLateHostWhereTheNextKernelIsNotLaunched) {
  // Launched at 290, 90 of the 100 us after the all-reduce is exposed; of the rest it waits 10.
  TraceText text;
  text.kernel("first", 7, 100, 200, 90).kernel(kAllReduce, 20, 150, 300, 120).kernel("second", 7, 305, 400, 290);
  expect_one(in_first_step(view_of(text.trace())), {200'000, 300'000}, Cause::late_host, 90'000, 10'000,
             "the host launched second 90.0 us after this began to be exposed");
}

TEST(Cause, IsALostRaceWhereLaterComputationTookTheSms) {
  // Launched at 120, the all-reduce depends on the first kernel at most, which ends at 200. It begins when `later` is over: 400 us
  // late, and then runs 200 us alone. `later` has 1,024 threads of 64 registers: one such block fills the registers of an H100's
  // SM, and NCCL's block finds neither registers nor, at 2,048 threads on an SM, more than 1,024 of them.
  const std::string shape = R"("registers per thread": 64, "shared memory": 0, "grid": [132, 1, 1], "block": [1024, 1, 1])";
  const std::string nccl = R"("registers per thread": 96, "shared memory": 82240, "grid": [24, 1, 1], "block": [544, 1, 1])";
  TraceText text;
  text.device("NVIDIA H100 80GB HBM3", 132);
  text.kernel("first", 7, 100, 200, 90).kernel(kAllReduce, 20, 600, 800, 120, nccl);
  text.kernel("later", 7, 200, 600, 125, shape).kernel("second", 7, 801, 1000, 130);
  expect_one(in_first_step(view_of(text.trace())), {600'000, 800'000}, Cause::lost_race, 200'000, 200'000,
             "began 400 us late, while later ran, which was launched later; its blocks leave no room in registers");
}

TEST(Cause, IsASharedStreamWhereAnotherCollectiveIsInFront) {
  // The all-reduce was launched at 102 and depends on the first kernel at most, which ends at 200; the gather of the same stream
  // ends at 400. Had it a stream of its own, the kernel that runs from 200 to 400 would hide all of it.
  TraceText text;
  text.kernel("first", 7, 100, 200, 90).kernel(kAllGather, 20, 200, 400, 100).kernel(kAllReduce, 20, 401, 600, 102);
  text.kernel("later", 7, 200, 400, 105).kernel("second", 7, 601, 900, 110);
  expect_one(in_first_step(view_of(text.trace())), {401'000, 600'000}, Cause::shared_stream, 199'000, 199'000,
             "waited 201 us behind all_gather of 200 us on its stream");
}

TEST(Cause, IsASharedStreamWhereAnotherCollectiveIsKeptWaiting) {
  // `later` runs beside the gather until 300. The all-reduce behind the gather was launched at 102 and ready then: of the gather's
  // 300 us from there on, and of its own 100, the kernel that waits for the all-reduce would have been spared the 300.
  TraceText text;
  text.kernel("first", 7, 100, 200, 90).kernel("later", 7, 200, 300, 95);
  text.kernel(kAllGather, 20, 200, 600, 100).kernel(kAllReduce, 20, 601, 701, 102).kernel("second", 7, 702, 900, 110);
  const Found found = in_first_step(view_of(text.trace()));
  ASSERT_EQ(found.exposures.size(), 2U);
  for (const Exposure& exposure : found.exposures) { EXPECT_EQ(to_string(exposure.cause), to_string(Cause::shared_stream)); }
  EXPECT_EQ(found.exposures[0].time, (Interval{300'000, 600'000}));
  EXPECT_EQ(found.exposures[0].by_cause, 300'000);
  EXPECT_THAT(found.evidence, HasSubstr("all_reduce, which second waits for, stood 301 us behind it on its stream"));
  EXPECT_EQ(found.exposures[1].time, (Interval{601'000, 701'000}));
}

TEST(Cause, IsProgramOrderWhereTheNextKernelWaitsForTheFirstOfTwo) {
  // The same, but the second kernel waits for the gather alone, and runs beside the all-reduce.
  TraceText text;
  text.kernel("first", 7, 100, 200, 90).kernel("later", 7, 200, 300, 95);
  text.kernel(kAllGather, 20, 200, 600, 100).kernel(kAllReduce, 20, 601, 701, 102).kernel("second", 7, 602, 900, 110);
  const Found found = in_first_step(view_of(text.trace()));
  EXPECT_EQ(to_string(found.exposures.at(0).cause), to_string(Cause::program_order));
}

TEST(Cause, IsPowerWhereLowerClocksAccountForTheRest) {
  // The all-reduce runs beside `later` for 400 us and alone for 150. At 1,485 of 1,980 MHz it may have lost a quarter of the 400,
  // and 100 of 150 us are most of them. Nothing is said of it where the clock fell for another reason, or was read a second before.
  for (const auto& [at, limited] : {std::pair(150, true), std::pair(150, false), std::pair(-1'000'000, true)}) {
    TraceText text;
    text.kernel("first", 7, 100, 200, 90).kernel(kAllReduce, 20, 200, 750, 95).kernel("later", 7, 200, 600, 100);
    text.kernel("second", 7, 751, 900, 110).clock(at, 1485, 1980, limited);
    const bool power = at == 150 && limited;
    expect_one(
        in_first_step(view_of(text.trace())), {600'000, 750'000}, power ? Cause::power : Cause::program_order,
        power ? 100'000 : 150'000, 150'000,
        power ? "the power limit kept the SM clock 25 % below its most while it ran, 400 us beside computation" : "waited 150 us");
  }
}

TEST(Cause, IsTheLinkWhereThereIsTooLittleToHideIt) {
  TraceText text;
  text.kernel("first", 7, 0, 100, 0).kernel(kAllReduce, 20, 100, 1000, 5).kernel("second", 7, 1001, 1101, 20);
  expect_one(in_first_step(view_of(text.trace())), {100'000, 1'000'000}, Cause::link, 900'000, 900'000,
             "the step has 900 us of communication and 200 us of computation");
}

TEST(Cause, IsALatePeerWhereTheOthersWereShorter) {
  // 1,000 us here and 200 on the other rank, which therefore came last: 800 of the exposure's 1,000 are a wait for it.
  TraceText here;
  here.rank(0, 2).kernel("first", 7, 0, 100, 0).kernel(kAllReduce, 20, 100, 1100, 5).kernel("second", 7, 1101, 1201, 20);
  TraceText there;
  there.rank(1, 2).kernel("first", 7, 0, 900, 0).kernel(kAllReduce, 20, 900, 1100, 5).kernel("second", 7, 1101, 1201, 20);
  std::vector<RankView> views;
  views.push_back(view_of(here.trace()));
  views.push_back(view_of(there.trace()));
  add_waiting(meet(views), views);
  expect_one(in_first_step(views[0]), {100'000, 1'100'000}, Cause::late_peer, 800'000, 1'000'000,
             "lasted 1.00 ms here and 200 us on the rank that came last");
}

TEST(Cause, IsAGapBetweenKernelsWhereTheCollectiveGoesOn) {
  // 3 us between two kernels, both launched before; the all-reduce runs until the second is half over.
  TraceText text;
  text.kernel("first", 7, 100, 200, 90).kernel(kAllReduce, 20, 150, 300, 120).kernel("second", 7, 203, 400, 130);
  expect_one(in_first_step(view_of(text.trace())), {200'000, 203'000}, Cause::kernel_gaps, 3'000, 0,
             "second began 3.00 us after what ran before it");
}

TEST(Cause, IsCopiesWhereTheyRunInsteadOfKernels) {
  // 6 of the 8 us between the kernels are a memory set; of the same with a gap of 80 us, 60 are one.
  for (const int scale : {1, 10}) {
    TraceText text;
    text.kernel("first", 7, 100, 200, 90).kernel(kAllReduce, 20, 150, 300, 120);
    text.copy("Memset (Device)", 7, 200 + scale, 200 + 7 * scale, 64, 125).kernel("second", 7, 200 + 8 * scale, 400, 130);
    expect_one(in_first_step(view_of(text.trace())), {200'000, 200'000 + 8'000 * scale}, Cause::copies, 6'000 * scale, 0,
               "copies and memory sets run in 6");
  }
}

TEST(Cause, NamesACopyAsItIs) {
  TraceText text;
  text.kernel("first", 7, 100, 200, 90).kernel(kAllReduce, 20, 150, 300, 120);
  text.copy("Memcpy DtoD (Device -> Device)", 7, 302, 400, 64, 130).kernel("second", 7, 400, 500, 131);
  expect_one(in_first_step(view_of(text.trace())), {200'000, 300'000}, Cause::program_order, 100'000, 100'000,
             "Memcpy DtoD (Device -> Device) was launched and waited 100 us for it");
}

TEST(Cause, IsUnknownWhereNoLaunchIsInTheTrace) {
  TraceText text;
  text.kernel("first", 7, 100, 200, {}).kernel(kAllReduce, 20, 150, 300, {}).kernel("second", 7, 302, 400, {});
  expect_one(in_first_step(view_of(text.trace())), {200'000, 300'000}, Cause::unknown, 0, 0,
             "the launch of what runs next is not in the trace");
}

TEST(Exposures, BelongToTheCollectiveThatEndsLast) {
  // The gather ends at 400 and the all-reduce at 300: all of 200..400 waits for the gather.
  TraceText text;
  text.kernel("first", 7, 100, 200, 90).kernel(kAllReduce, 20, 150, 300, 91).kernel(kAllGather, 21, 250, 400, 92);
  text.kernel("second", 7, 401, 500, 93);
  const Found found = in_first_step(view_of(text.trace()));
  Time sum = 0;
  for (const Exposure& exposure : found.exposures) { sum += exposure.time.length(); }
  EXPECT_EQ(sum, 200'000);
  EXPECT_EQ(found.exposures.front().time, (Interval{250'000, 400'000}));
}

}  // namespace
}  // namespace elbowroom::explain
