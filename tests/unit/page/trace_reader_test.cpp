#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "documents.hpp"

namespace elbowroom::page {
namespace {

using testing::HasSubstr;

constexpr std::string_view kOrigin =
    R"("otherData": {"provenance": "simulated", "device": "simulated for 2 x Example GPU", "seed": 7})";

std::string trace_of(const std::string& events) {
  return fmt::format(R"({{"schema": "elbowroom.trace/1", {}, "traceEvents": [{}]}})", kOrigin, events);
}

std::string named(int process, const std::string& name) {
  return fmt::format(R"({{"ph": "M", "name": "process_name", "pid": {}, "tid": 0, "args": {{"name": "{}"}}}})", process, name);
}

std::string span(int process, int thread, const std::string& category, const std::string& name, double begin, double length) {
  return fmt::format(
      R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{"grid": 8, "block": 256}}}})",
      category, name, process, thread, begin, length);
}

const Timelines& timelines_of(const Document& document, std::size_t section = 0) {
  return std::get<Timelines>(document.sections.at(section).views.at(0));
}

TEST(Trace, PutsSchemesOfACaseOnOneScale) {
  const Document document = read(trace_text());
  ASSERT_EQ(document.sections.size(), 1U);
  EXPECT_EQ(document.sections[0].title, "example");
  EXPECT_EQ(document.provenance, "simulated");
  const Timelines& timelines = timelines_of(document);
  ASSERT_EQ(timelines.tracks.size(), 4U);
  EXPECT_EQ(timelines.tracks[0].label, "sequential");
  EXPECT_EQ(timelines.tracks[1].device, "GPU 1");
  EXPECT_EQ(timelines.tracks[3].label, "shaped_priority");
}

TEST(Trace, PutsComputeAboveCommunicationAndKeepsItsNumbers) {
  const Document document = read(trace_text());
  const Track& shaped = timelines_of(document).tracks[2];
  ASSERT_EQ(shaped.lanes.size(), 2U);
  EXPECT_EQ(shaped.lanes[0].kind, LaneKind::compute);
  EXPECT_EQ(shaped.lanes[1].kind, LaneKind::communication);
  EXPECT_EQ(shaped.lanes[1].label, "stream 21");
  const Block& block = shaped.lanes[1].levels.at(0).blocks.at(0);
  EXPECT_EQ(block.begin_us, 20.0);
  EXPECT_EQ(block.length_us, 90.001);
  const Block& compute = shaped.lanes[0].levels[0].blocks[0];
  EXPECT_EQ(timelines_of(document).names[compute.name], "gelu<\"float\\\">");
  EXPECT_EQ(timelines_of(document).launches[compute.launch],
            "4096 blocks of 256 threads, 32 registers, 38016 B dynamic shared memory");
}

TEST(Trace, ReadsTheCaseAndTheSchemeFromAName) {
  const Document document = read(trace_of(named(1, "GPU 0 · gelu-ar shaped 5/SM") + "," + named(2, "GPU 0 · gelu-ar plan 2") + "," +
                                          named(3, "GPU 0 · my case tuned") + "," + named(4, "GPU 3")));
  ASSERT_EQ(document.sections.size(), 3U);
  EXPECT_EQ(timelines_of(document, 0).tracks[0].label, "shaped 5/SM");
  EXPECT_EQ(timelines_of(document, 0).tracks[1].label, "plan 2");
  EXPECT_EQ(document.sections[1].title, "my case");
  EXPECT_EQ(timelines_of(document, 1).tracks[0].label, "tuned");
  EXPECT_EQ(document.sections[2].title, "Timelines");
  EXPECT_EQ(timelines_of(document, 2).tracks[0].device, "GPU 3");
}

TEST(Trace, GivesCopiesALaneOfTheirOwn) {
  const Document document =
      read(trace_of(named(1, "GPU 0 · a tuned") + "," + span(1, 2, "communication", "copies to peers", 0, 5) + "," +
                    span(1, 2, "communication", "ncclDevKernel", 5, 5) + "," + span(1, 1, "compute", "copy_kernel", 0, 9)));
  const Track& track = timelines_of(document).tracks[0];
  ASSERT_EQ(track.lanes.size(), 3U);
  EXPECT_EQ(track.lanes[0].kind, LaneKind::compute);
  EXPECT_EQ(track.lanes[1].kind, LaneKind::communication);
  EXPECT_EQ(track.lanes[2].kind, LaneKind::copy);
}

TEST(Trace, IsDecimatedWhereItHasMoreSpansThanAPageTakes) {
  // 220,000 spans are more than 200,000, and 110,000 on each of two lanes more than its half.
  std::string events = named(1, "GPU 0 · a tuned");
  for (int at = 0; at < 220'000; ++at) {
    events += "," + span(1, 1 + at % 2, "compute", at % 7 == 0 ? "long" : "short", at * 10.0, at % 7 == 0 ? 9.0 : 1.0);
  }
  const Document document = read(trace_of(events));
  const Track& track = timelines_of(document).tracks[0];
  ASSERT_EQ(track.lanes.size(), 2U);
  std::size_t blocks = 0;
  for (const Lane& lane : track.lanes) {
    EXPECT_EQ(lane.spans, 110'000U);
    EXPECT_GT(lane.levels.front().resolution_us, lane.levels.back().resolution_us);
    EXPECT_GT(lane.levels.back().resolution_us, 0);
    for (const Level& level : lane.levels) { blocks += level.blocks.size(); }
  }
  EXPECT_LE(blocks, 200'000U);
}

TEST(Trace, OfBeforeTheMemberSchemaIsReadToo) {
  const Document document = read(fmt::format(R"({{{}, "traceEvents": []}})", kOrigin));
  EXPECT_EQ(document.schema, "elbowroom.trace/1");
  EXPECT_TRUE(document.sections.empty());
}

TEST(Trace, NamesWhatIsWrong) {
  EXPECT_EQ(refusal_of(trace_of("3")), "file: traceEvents[0]: 3, expected an object");
  EXPECT_EQ(refusal_of(trace_of("[]")), "file: traceEvents[0]: [], expected an object");
  EXPECT_EQ(refusal_of(trace_of(named(1, "GPU 0") + R"(, {"ph": "X", "name": "a", "ts": 1})")),
            "file: traceEvents[1].dur: missing, expected a number of microseconds");
  EXPECT_EQ(refusal_of(trace_of(span(1, 1, "compute", "a", 0, -1))),
            "file: traceEvents[0].dur: -1.0, expected a number of microseconds from 0 to 1000000000000000");
  EXPECT_EQ(refusal_of(R"({"schema": "elbowroom.trace/1", "traceEvents": {}})"), "file: traceEvents: an object, expected an array");
  EXPECT_EQ(refusal_of(R"({"schema": "elbowroom.trace/1"})"), "file: traceEvents: missing, expected an array");
  EXPECT_EQ(refusal_of(R"({"schema": "elbowroom.trace/1", "traceEvents": []})"),
            "file: otherData.provenance: missing, expected measured or simulated, as in a trace of elbowroom bench");
  EXPECT_EQ(refusal_of(R"({"otherData": {"provenance": "measured", "device": "simulated for 2 x GPU"}, "traceEvents": []})"),
            "file: otherData.device: \"simulated for 2 x GPU\", expected a text that begins with measured");
  EXPECT_THAT(refusal_of(R"({"schema": "elbowroom.trace/1", "a": )" + std::string(20, '[')),
              HasSubstr("nested deeper than 16 levels"));
}

}  // namespace
}  // namespace elbowroom::page
