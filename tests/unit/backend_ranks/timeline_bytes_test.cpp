#include "backend_ranks/timeline_bytes.hpp"

#include <gtest/gtest.h>

namespace elbowroom::ranks {
namespace {

Timeline two_spans() {
  Span kernel{"gemm", SpanKind::compute, 1, 7, Nanoseconds(-5), Nanoseconds(12'000'000'000), std::nullopt};
  kernel.launch = LaunchShape{Blocks(132), Threads(256), Registers(56), Bytes(4096), Bytes(53'376), 2};
  return {Provenance::simulated,
          {kernel, Span{"ncclDevKernel", SpanKind::communication, 0, 0, Nanoseconds(1), Nanoseconds(2), {}}}};
}

TEST(TimelineBytes, ComeBackAsTheTimelineThatTheyWere) {
  const Timeline timeline = two_spans();
  const Result<Timeline> read = timeline_in(bytes_of(timeline));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->provenance, Provenance::simulated);
  ASSERT_EQ(read->spans.size(), 2U);
  const Span& kernel = read->spans[0];
  EXPECT_EQ(kernel.name, "gemm");
  EXPECT_EQ(kernel.kind, SpanKind::compute);
  EXPECT_EQ(kernel.device, 1);
  EXPECT_EQ(kernel.stream, 7);
  EXPECT_EQ(kernel.begin, Nanoseconds(-5));
  EXPECT_EQ(kernel.end, Nanoseconds(12'000'000'000));
  ASSERT_TRUE(kernel.launch);
  EXPECT_EQ(kernel.launch->grid, Blocks(132));
  EXPECT_EQ(kernel.launch->block, Threads(256));
  EXPECT_EQ(kernel.launch->registers_per_thread, Registers(56));
  EXPECT_EQ(kernel.launch->static_shared, Bytes(4096));
  EXPECT_EQ(kernel.launch->dynamic_shared, Bytes(53'376));
  EXPECT_EQ(kernel.launch->cluster, 2);
  EXPECT_EQ(read->spans[1].kind, SpanKind::communication);
  EXPECT_FALSE(read->spans[1].launch);
}

TEST(TimelineBytes, ThatAreCutOffAreRefused) {
  const std::string good = bytes_of(two_spans());
  for (std::size_t size = 0; size < good.size(); ++size) { EXPECT_FALSE(timeline_in(good.substr(0, size))) << size; }
  EXPECT_FALSE(timeline_in(good + "x"));
}

}  // namespace
}  // namespace elbowroom::ranks
