#include "elbowroom/report/chrome_trace.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "example_document.hpp"
#include "golden.hpp"

namespace elbowroom {
namespace {

using nlohmann::json;

json parsed(const TraceDocument& document) {
  const auto text = to_chrome_trace(document);
  return text.ok() ? json::parse(*text) : json();
}

std::vector<json> events_of(const json& trace, const std::string& phase, const std::string& name = "") {
  std::vector<json> found;
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("ph") == phase && (name.empty() || event.at("name") == name)) { found.push_back(event); }
  }
  return found;
}

TEST(ChromeTrace, IsTheGoldenExample) {
  const auto text = to_chrome_trace(example_trace());
  ASSERT_TRUE(text.ok());
  expect_golden("trace.json", *text);
}

TEST(ChromeTrace, SaysWhereItComesFrom) {
  const json trace = parsed(example_trace());
  EXPECT_EQ(trace["schemaVersion"], 1);
  EXPECT_EQ(trace["otherData"]["provenance"], "simulated");
  EXPECT_EQ(trace["otherData"]["seed"], 7);
  EXPECT_EQ(trace["otherData"]["versions"], "driver 1.2, nccl 0.0.1");
  EXPECT_EQ(trace["otherData"]["timelines"], (json::array({"example sequential", "example shaped_priority"})));
}

TEST(ChromeTrace, HasAProcessForEachDeviceOfEachTimeline) {
  std::vector<std::pair<int, std::string>> processes;
  for (const json& event : events_of(parsed(example_trace()), "M", "process_name")) {
    processes.emplace_back(event["pid"].get<int>(), event["args"]["name"].get<std::string>());
  }
  EXPECT_EQ(processes, (std::vector<std::pair<int, std::string>>{{1, "GPU 0 · example sequential"},
                                                                 {2, "GPU 1 · example sequential"},
                                                                 {3, "GPU 0 · example shaped_priority"},
                                                                 {4, "GPU 1 · example shaped_priority"}}));
}

TEST(ChromeTrace, HasANamedThreadForEachStream) {
  std::map<std::pair<int, int>, std::string> threads;
  for (const json& event : events_of(parsed(example_trace()), "M", "thread_name")) {
    threads[{event["pid"].get<int>(), event["tid"].get<int>()}] = event["args"]["name"].get<std::string>();
  }
  EXPECT_EQ(threads.size(), 6U);  // one stream on each of two devices, then two on each
  EXPECT_EQ((threads[{1, 1}]), "compute + communication (stream 7)");
  EXPECT_EQ((threads[{3, 1}]), "compute (stream 7)");
  EXPECT_EQ((threads[{3, 2}]), "communication (stream 21)");
}

TEST(ChromeTrace, TimesAreMicrosecondsFromTheTimelinesFirstSpan) {
  const std::vector<json> reduces = events_of(parsed(example_trace()), "X", "all_reduce");
  ASSERT_EQ(reduces.size(), 4U);
  EXPECT_EQ(reduces[0]["ts"], 100.0);  // 5,000,100 - 5,000,000
  EXPECT_EQ(reduces[0]["dur"], 80.0);
  EXPECT_EQ(reduces[2]["ts"], 20.0);     // 9,000,020 - 9,000,000
  EXPECT_EQ(reduces[2]["dur"], 90.001);  // nanoseconds are kept
}

TEST(ChromeTrace, CarriesTheLaunchShapeWhereItIsKnown) {
  const std::vector<json> gelus = events_of(parsed(example_trace()), "X", "gelu<\"float\\\">");
  ASSERT_EQ(gelus.size(), 2U);
  EXPECT_EQ(gelus[0]["cat"], "compute");
  EXPECT_EQ(gelus[0]["args"], (json{{"device", 0},
                                    {"stream", 7},
                                    {"grid", 4096},
                                    {"block", 256},
                                    {"registers_per_thread", 32},
                                    {"static_shared_bytes", 0},
                                    {"dynamic_shared_bytes", 38016},
                                    {"cluster", 1}}));
  EXPECT_EQ(events_of(parsed(example_trace()), "X", "all_reduce")[0]["args"], (json{{"device", 0}, {"stream", 7}}));
}

TEST(ChromeTrace, WithoutALabelTheProcessIsTheDevice) {
  TraceDocument document = example_trace();
  document.timelines[0].label.clear();
  EXPECT_EQ(events_of(parsed(document), "M", "process_name")[0]["args"]["name"], "GPU 0");
}

TEST(ChromeTrace, AnEmptyTraceIsATrace) {
  EXPECT_TRUE(parsed({example_origin(), {}})["traceEvents"].is_array());
  EXPECT_TRUE(parsed({example_origin(), {{"nothing", {Provenance::simulated, {}}}}})["traceEvents"].empty());
}

TEST(ChromeTrace, NeverMixesMeasuredAndSimulated) {
  TraceDocument document = example_trace();
  document.timelines[1].timeline.provenance = Provenance::measured;
  const auto text = to_chrome_trace(document);
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().message, "timeline \"example shaped_priority\": measured, expected simulated as the rest of the trace");
}

TEST(ChromeTrace, RefusesASpanThatEndsBeforeItBegins) {
  TraceDocument document = example_trace();
  document.timelines[0].timeline.spans[0].end = Nanoseconds(5);
  const auto text = to_chrome_trace(document);
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().message,
            "timeline \"example sequential\": span \"gelu\" ends at 5 ns, expected an end not before its begin at 5000000000 ns");
}

TEST(ChromeTrace, NamesThatAreNotUtf8AreReplaced) {
  TraceDocument document = example_trace();
  document.timelines[0].timeline.spans[0].name = "\xff";
  EXPECT_EQ(events_of(parsed(document), "X")[0]["name"], "\xEF\xBF\xBD");
}

RC_GTEST_PROP(ChromeTrace, LosesNoSpanAndNamesEveryTrack, ()) {
  TraceDocument document{example_origin(), {}};
  std::size_t spans = 0;
  std::set<std::tuple<std::size_t, int, std::int64_t>> streams;
  const std::size_t timelines = *rc::gen::inRange<std::size_t>(1, 4);
  for (std::size_t t = 0; t < timelines; ++t) {
    LabelledTimeline labelled{std::to_string(t), {Provenance::simulated, {}}};
    const int count = *rc::gen::inRange(0, 20);
    for (int i = 0; i < count; ++i) {
      const int begin = *rc::gen::inRange(0, 1000);
      const int device = *rc::gen::inRange(0, 4);
      const auto stream = *rc::gen::arbitrary<std::int64_t>();
      labelled.timeline.spans.push_back(
          example_span("k", SpanKind::compute, device, stream, begin, begin + *rc::gen::inRange(0, 50)));
      streams.emplace(t, device, stream);
      ++spans;
    }
    document.timelines.push_back(std::move(labelled));
  }
  const json trace = parsed(document);
  const auto events = events_of(trace, "X");
  RC_ASSERT(events.size() == spans);

  std::set<std::pair<int, int>> named;
  for (const json& event : events_of(trace, "M", "thread_name")) { named.emplace(event["pid"], event["tid"]); }
  RC_ASSERT(named.size() == streams.size());
  for (const json& event : events) {
    RC_ASSERT(named.count({event["pid"], event["tid"]}) == 1U);
    RC_ASSERT(event["ts"].get<double>() >= 0.0);
  }
}

}  // namespace
}  // namespace elbowroom
