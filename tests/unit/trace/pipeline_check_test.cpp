#include "elbowroom/trace/pipeline_check.hpp"

#include <gtest/gtest.h>

#include <string>

namespace elbowroom {
namespace {

Span span(SpanKind kind, int device, int begin, int end) {
  Span made;
  made.kind = kind;
  made.device = device;
  made.begin = Nanoseconds(begin);
  made.end = Nanoseconds(end);
  return made;
}

/// Compute 0..10 and 10..20; collective 0 runs beside compute 1, collective 1 after it.
Timeline pipeline(int device) {
  return {Provenance::simulated,
          {span(SpanKind::communication, device, 20, 28), span(SpanKind::compute, device, 10, 20),
           span(SpanKind::communication, device, 10, 18), span(SpanKind::compute, device, 0, 10)}};
}

TEST(CheckPipeline, AcceptsACollectiveThatBeginsWhenItsComputeEnds) { EXPECT_TRUE(check_pipeline(pipeline(0), 2)); }

TEST(CheckPipeline, NamesTheCollectiveThatDidNotWait) {
  Timeline timeline = pipeline(3);
  timeline.spans[0].begin = Nanoseconds(19);  // collective 1; compute 1 ends at 20
  const Status status = check_pipeline(timeline, 2);
  ASSERT_FALSE(status);
  EXPECT_EQ(ErrorKind::failed, status.error().kind);
  EXPECT_EQ("collective 1 on GPU 3 began 1 ns before its compute had ended", status.error().message);
}

TEST(CheckPipeline, SeveralKernelsMayMakeOneCompute) {
  Timeline timeline = pipeline(0);
  timeline.spans[1].begin = Nanoseconds(12);
  timeline.spans.push_back(span(SpanKind::compute, 0, 10, 12));
  timeline.spans.push_back(span(SpanKind::compute, 0, 0, 4));
  timeline.spans[3].begin = Nanoseconds(4);
  EXPECT_TRUE(check_pipeline(timeline, 2));  // kernels 0..4, 4..10 | 10..12, 12..20
  timeline.spans[2].begin = Nanoseconds(9);  // collective 0, after the first kernel of its compute and before the end of the last
  EXPECT_EQ("collective 0 on GPU 0 began 1 ns before its compute had ended", check_pipeline(timeline, 2).error().message);
}

TEST(CheckPipeline, AnIncompleteRecordingIsNoVerdict) {
  Timeline timeline = pipeline(0);
  timeline.spans.pop_back();
  EXPECT_EQ(ErrorKind::unavailable, check_pipeline(timeline, 2).error().kind);
  EXPECT_EQ(ErrorKind::unavailable, check_pipeline(pipeline(0), 3).error().kind);
  EXPECT_EQ(ErrorKind::unavailable, check_pipeline({}, 1).error().kind);
}

TEST(CheckPipeline, EveryDeviceIsChecked) {
  Timeline timeline = pipeline(0);
  for (const Span& other : pipeline(1).spans) timeline.spans.push_back(other);
  EXPECT_TRUE(check_pipeline(timeline, 2));
  timeline.spans.back().end = Nanoseconds(11);  // compute 0 of GPU 1
  EXPECT_FALSE(check_pipeline(timeline, 2));
}

}  // namespace
}  // namespace elbowroom
