#include "explain/trace_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "explain/trace_order.hpp"
#include "unit/explain/trace_text.hpp"

namespace elbowroom::explain {
namespace {

using test::TraceText;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Result<Trace> read(const std::string& text) {
  TextSource source(text);
  return read_trace(source, "t.json");
}

std::string error_of(const std::string& text) {
  const Result<Trace> trace = read(text);
  return trace ? "" : trace.error().message;
}

TEST(TraceReader, TakesRowsInTheOrderOfTheirBegin) {
  TraceText text;
  text.rank(3, 8).kernel("b", 7, 20, 30, 15).copy("Memcpy DtoH (Device -> Pageable)", 9, 5, 8, 64, 1);
  text.kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)", 20, 10, 40, {});
  const Trace trace = text.trace();
  EXPECT_EQ(trace.rank, 3);
  EXPECT_EQ(trace.world_size, 8);
  EXPECT_THAT(trace.rows.begin, ElementsAre(5'000, 10'000, 20'000));
  EXPECT_THAT(trace.rows.work, ElementsAre(Work::copy, Work::communication, Work::compute));
  EXPECT_EQ(trace.launched(0), 1'000);
  EXPECT_EQ(trace.launched(1), std::nullopt);
  EXPECT_EQ(trace.launched(2), 15'000);
  EXPECT_EQ(trace.rows.bytes[0], 64);
  EXPECT_THAT(trace.lost, IsEmpty());
}

TEST(TraceReader, KnowsTheCategoriesOfOlderVersions) {
  const Trace trace = TraceText::read(
      R"({"traceEvents": [{"ph": "X", "cat": "Kernel", "name": "k", "pid": 0, "tid": "stream 7", "ts": 1, "dur": 2, "args": {}},
                          {"ph": "X", "cat": "Memset", "name": "m", "pid": 0, "tid": "stream 7", "ts": 4, "dur": 2, "args": {}}]})");
  EXPECT_THAT(trace.rows.kind, ElementsAre(RowKind::kernel, RowKind::set));
}

TEST(TraceReader, SaysWhatIsLost) {
  TraceText text;
  text.kernel("a", 7, 0, 10, 0).kernel("b", 7, 20, 30, 1);
  std::string whole = text.text();
  const Trace cut = TraceText::read(whole.substr(0, whole.find("  ],")));
  EXPECT_EQ(cut.rows.size(), 2U);
  EXPECT_THAT(cut.lost, ElementsAre("the text ends before its document does"));

  text.event(R"({"ph": "X", "cat": "kernel", "name": "no time", "dur": 1})");
  EXPECT_THAT(text.trace().lost, ElementsAre("1 event without a time"));

  // The quote behind the first name is lost: that row goes, and no other.
  whole.replace(whole.find("\"a\","), 4, "\"a,");
  const Trace damaged = TraceText::read(whole);
  EXPECT_EQ(damaged.rows.size(), 1U);
  EXPECT_TRUE(damaged.launched(0).has_value());
  ASSERT_EQ(damaged.lost.size(), 1U);
  EXPECT_THAT(damaged.lost[0], ::testing::HasSubstr("of damaged events were passed over"));
}

TEST(TraceReader, RefusesWhatIsNoTrace) {
  EXPECT_EQ(error_of(""), "t.json: 0 bytes without \"traceEvents\", expected a trace of torch.profiler");
  EXPECT_EQ(error_of("hello"), "t.json: 5 bytes without \"traceEvents\", expected a trace of torch.profiler");
  EXPECT_EQ(error_of(R"({"traceEvents": []})"), "t.json: 0 events of interest and none of a GPU, expected a trace with kernels");
}

TEST(PerDevice, SplitsAProcessOfSeveralGpus) {
  const Trace trace = TraceText::read(
      R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 2, "args": {"device": 1, "stream": 7}},
                          {"ph": "X", "cat": "kernel", "name": "l", "ts": 2, "dur": 2, "args": {"device": 0, "stream": 7}},
                          {"ph": "X", "cat": "kernel", "name": "m", "ts": 3, "dur": 2, "args": {"device": 1, "stream": 8}}]})");
  const std::vector<Trace> devices = per_device(trace);
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[0].file, "t.json GPU 0");
  EXPECT_THAT(devices[0].rows.begin, ElementsAre(2'000));
  EXPECT_THAT(devices[1].rows.begin, ElementsAre(1'000, 3'000));
}

}  // namespace
}  // namespace elbowroom::explain
