#include "elbowroom/plan/order_check.hpp"

#include <gtest/gtest.h>

#include <string>

#include "elbowroom/plan/lower.hpp"
#include "elbowroom/plan/program.hpp"
#include "unit/model/steps.hpp"
#include "unit/trace/spans.hpp"

namespace elbowroom {
namespace {

using testing::span;

/// Compute 0..10 and 10..20; collective 0 runs beside compute 1, collective 1 after it.
void add_pipeline(Timeline& timeline, int device) {
  for (const Span& one : {span(SpanKind::communication, device, 20, 28), span(SpanKind::compute, device, 10, 20),
                          span(SpanKind::communication, device, 10, 18), span(SpanKind::compute, device, 0, 10)}) {
    timeline.spans.push_back(one);
  }
}

Timeline pipeline() {
  Timeline timeline;
  add_pipeline(timeline, 0);
  add_pipeline(timeline, 1);
  return timeline;
}

Step step(int repeats = 2) {
  Scenario scenario;
  scenario.iterations = repeats;
  scenario.compute = Elementwise{};
  return step_of(scenario);
}

Status check(const Timeline& timeline, const Step& step, Order order = Order::concurrent, const OverlapPlan& plan = {}) {
  return check_order(step, *lower(step, order, plan), timeline);
}

TEST(CheckOrder, AcceptsACollectiveThatBeginsWhenItsComputeEnds) { EXPECT_TRUE(check(pipeline(), step())); }

TEST(CheckOrder, NamesTheLaunchThatDidNotWait) {
  Timeline timeline = pipeline();
  timeline.spans[4].begin = Nanoseconds(19);  // collective 1 on GPU 1; compute 1 ends at 20
  const Status status = check(timeline, step());
  ASSERT_FALSE(status);
  EXPECT_EQ(ErrorKind::failed, status.error().kind);
  EXPECT_EQ("all_reduce of repeat 1 on GPU 1 began 1 ns before elementwise of repeat 1 had ended", status.error().message);
}

TEST(CheckOrder, SeveralKernelsMayMakeOneCompute) {
  Timeline timeline = pipeline();
  for (std::size_t device = 0; device < 2; ++device) {
    const int number = static_cast<int>(device);
    timeline.spans[device * 4 + 1].begin = Nanoseconds(12);
    timeline.spans[device * 4 + 3].begin = Nanoseconds(4);
    timeline.spans.push_back(span(SpanKind::compute, number, 10, 12));
    timeline.spans.push_back(span(SpanKind::compute, number, 0, 4));
  }
  EXPECT_TRUE(check(timeline, step()));      // kernels 0..4, 4..10 | 10..12, 12..20
  timeline.spans[2].begin = Nanoseconds(9);  // collective 0, after the first kernel of its compute and before the end of the last
  EXPECT_EQ("all_reduce of repeat 0 on GPU 0 began 1 ns before elementwise of repeat 0 had ended",
            check(timeline, step()).error().message);
}

TEST(CheckOrder, ASumOfDividedProductsGoesWithTheKernelBeforeIt) {
  Timeline timeline = pipeline();
  // One product of the two on each device is 10..16 and 16..20.
  for (const std::size_t device : {0U, 1U}) {
    timeline.spans[device * 4 + 1].end = Nanoseconds(16);
    Span sum = span(SpanKind::compute, static_cast<int>(device), 16, 20);
    sum.name = "void cublasLt::splitKreduce_kernel<32, 16, int, float>";
    timeline.spans.push_back(sum);
  }
  EXPECT_TRUE(check(timeline, step()));
  timeline.spans[0].begin = Nanoseconds(19);  // collective 1 began before the sum had ended, at 20
  EXPECT_EQ("all_reduce of repeat 1 on GPU 0 began 1 ns before elementwise of repeat 1 had ended",
            check(timeline, step()).error().message);
}

TEST(CheckOrder, ASimulatedRecordingMayShowOneRankOfMany) {
  Timeline timeline;
  add_pipeline(timeline, 0);
  EXPECT_EQ(ErrorKind::unavailable, check(timeline, step()).error().kind);
  timeline.provenance = Provenance::simulated;
  EXPECT_TRUE(check(timeline, step()));
  timeline.spans.front().begin = Nanoseconds(19);
  EXPECT_EQ(ErrorKind::failed, check(timeline, step()).error().kind);
  timeline = {};
  timeline.provenance = Provenance::simulated;
  EXPECT_EQ(ErrorKind::unavailable, check(timeline, step()).error().kind);
}

TEST(CheckOrder, AnIncompleteRecordingIsNoVerdict) {
  Timeline timeline = pipeline();
  timeline.spans.pop_back();
  EXPECT_EQ(ErrorKind::unavailable, check(timeline, step()).error().kind);
  EXPECT_EQ(ErrorKind::unavailable, check(pipeline(), step(3)).error().kind);
  EXPECT_EQ(ErrorKind::unavailable, check({}, step(1)).error().kind);
  Timeline twice = pipeline();
  for (const Span& again : pipeline().spans) { twice.spans.push_back(again); }
  EXPECT_EQ("the recording of GPU 0 holds 4 spans of communication, expected 2", check(twice, step()).error().message);
}

TEST(CheckOrder, EveryDeviceIsChecked) {
  Timeline timeline = pipeline();
  timeline.spans.back().end = Nanoseconds(11);  // compute 0 of GPU 1
  EXPECT_FALSE(check(timeline, step()));
}

TEST(CheckOrder, OneStreamHasNoTwoSidesAtOnce) {
  // Collective 0, 10 to 18, would have to be over before compute 1 begins.
  EXPECT_EQ("elementwise of repeat 1 on GPU 0 began 8 ns before all_reduce of repeat 0 had ended",
            check(pipeline(), step(), Order::sequential).error().message);
}

TEST(CheckOrder, AGateIsChecked) {
  OverlapPlan gated;
  gated.launch_gate = true;
  Timeline timeline = pipeline();
  EXPECT_TRUE(check(timeline, step(), Order::concurrent, gated));  // collective 0 and compute 1 begin at 10
  timeline.spans[2].begin = Nanoseconds(11);
  EXPECT_TRUE(check(timeline, step()));
  EXPECT_EQ("elementwise of repeat 1 on GPU 0 began 1 ns before all_reduce of repeat 0 had begun",
            check(timeline, step(), Order::concurrent, gated).error().message);
}

TEST(CheckOrder, LanesOfOneSideAreToldApartByTheirStreams) {
  // a and b at once on two streams, the sum after b, which ends first.
  Step two;
  two.ranks = 1;
  two.operations = {compute_operation("a"), compute_operation("b"), comm_operation("sum", {{1, false}})};
  two.operations[1].lane = "side";
  Timeline timeline;
  timeline.spans = {span(SpanKind::compute, 0, 0, 10, 7), span(SpanKind::compute, 0, 0, 5, 9),
                    span(SpanKind::communication, 0, 6, 8, 8)};
  EXPECT_TRUE(check(timeline, two));
  timeline.spans[1].stream = 6;
  EXPECT_EQ("sum of repeat 0 on GPU 0 began 4 ns before b of repeat 0 had ended", check(timeline, two).error().message);
  timeline.spans[1].stream = 7;
  EXPECT_EQ("the recording of GPU 0 shows computation on 1 streams, expected 2", check(timeline, two).error().message);
}

TEST(CheckOrder, ADeviceIsAskedForItsOwnLaunches) {
  // Two stages: device 0 computes and sends, device 1 receives and computes.
  Step stages;
  stages.mesh = {{"pp", 2}};
  stages.operations = {compute_operation("front"), comm_operation("act", {{0, false}}), compute_operation("back", {{1, false}})};
  stages.operations[0].at = {{0, 0}};
  stages.operations[2].at = {{0, 1}};
  stages.operations[1].along = {0};
  stages.operations[1].what = SendRecv{mebibytes(16), DataType::bf16, 0, 1};
  Timeline timeline;
  timeline.spans = {span(SpanKind::compute, 0, 0, 10), span(SpanKind::communication, 0, 10, 12),
                    span(SpanKind::communication, 1, 0, 12), span(SpanKind::compute, 1, 12, 20)};
  EXPECT_TRUE(check(timeline, stages));
  timeline.spans[3].begin = Nanoseconds(11);
  EXPECT_EQ("back of repeat 0 on GPU 1 began 1 ns before act of repeat 0 had ended", check(timeline, stages).error().message);
}

}  // namespace
}  // namespace elbowroom
