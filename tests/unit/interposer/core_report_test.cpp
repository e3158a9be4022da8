#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "fake_platform.hpp"
#include "interposer/core/report_writer.hpp"

namespace elbowroom::interposer {
namespace {

using nlohmann::json;

void append(void* self, const char* data, std::size_t size) { static_cast<std::string*>(self)->append(data, size); }

TEST(ReportWriter, PlacesCommasAndEscapes) {
  std::string text;
  {
    ReportWriter out({&text, &append});
    out.begin_object().key("a").number(0).key("b").begin_array().text("x\"\\\n\xc3").text("p", "q").begin_object().end_object();
    out.end_array().key("c").microseconds(1'234'056).end_object();
  }
  EXPECT_EQ(text, R"({"a":0,"b":["x\"\\\u000a\u00c3","pq",{}],"c":1234.056})");
}

TEST(ReportWriter, WritesMoreThanItsBuffer) {
  std::string text;
  {
    ReportWriter out({&text, &append});
    out.begin_array();
    for (std::uint64_t i = 0; i < 2'000; ++i) { out.number(i); }
    out.end_array();
  }
  const json numbers = json::parse(text);
  ASSERT_EQ(numbers.size(), 2'000U);
  EXPECT_EQ(numbers[1'999], 1'999);
}

TEST(CoreReport, SaysWhatWasSeenAppliedAndRefused) {
  Program program(rules_of(Policy::gate));
  LaunchFacts noted = program.facts(kAllReduce, kCommStream);
  noted.note = {1 << 20, 2};
  for (int i = 0; i < 3; ++i) {
    program.launch(noted);
    program.finish(kCommStream);
    noted.host_time_ns = program.now_ns;
  }
  program.launch(noted);
  program.launch(kGemm, kComputeStream);
  LaunchFacts small = program.facts(kGemm, kOtherComputeStream);
  small.grid = {8, 1, 1};
  program.launch(small);

  std::string text;
  const char* entries[] = {"cuGetProcAddress", "dlsym:cuLaunchKernelEx"};
  const char* passed[] = {"cuFuncX: unknown structure size"};
  ProcessFacts process;
  process.pid = 42;
  process.program = "python3";
  process.device_count = 2;
  process.driver_entries = entries;
  process.driver_entry_count = 2;
  process.passed_through = passed;
  process.passed_through_count = 1;
  process.outside = {.calls = 4, .ns = 600, .median_ns = 150};
  process.inside = {.calls = 2, .ns = 300, .median_ns = 140};
  program.core->report(process, {&text, &append});

  const json report = json::parse(text);
  EXPECT_EQ(report["schema"], "elbowroom.run-process/1");
  EXPECT_EQ(report["pid"], 42);
  EXPECT_EQ(report["program"], "python3");
  EXPECT_EQ(report["policy"], "gate");
  EXPECT_EQ(report["device_count_seen"], 2);
  EXPECT_EQ(report["driver_entries"], json::array({"cuGetProcAddress", "dlsym:cuLaunchKernelEx"}));
  EXPECT_EQ(report["launches"]["total"], 6);
  EXPECT_EQ(report["launches"]["in_window"], 2);
  ASSERT_EQ(report["collectives"].size(), 1U);
  EXPECT_EQ(report["collectives"][0]["size_class"], 20);
  EXPECT_EQ(report["collectives"][0]["count"], 4);
  ASSERT_EQ(report["kernels"].size(), 1U);
  const json& kernel = report["kernels"][0];
  EXPECT_EQ(kernel["name"], "nvjet_sm90_gemm");
  EXPECT_EQ(kernel["footprint"]["threads"], 512);
  EXPECT_EQ(kernel["footprint"]["registers"], 64);
  EXPECT_EQ(kernel["applied"]["gate"], 1);
  EXPECT_EQ(kernel["refused"], (json{{"gate: the kernel leaves SMs free", 1}}));
  EXPECT_EQ(report["applied"]["priority"], 4);
  EXPECT_EQ(report["refused"], kernel["refused"]);
  EXPECT_EQ(report["relaunched"], 0);
  EXPECT_EQ(report["passed_through"], json::array({"cuFuncX: unknown structure size"}));
  EXPECT_EQ(report["overhead"]["nanoseconds"], 900);
  EXPECT_EQ(report["overhead"]["calls"], 6);
  EXPECT_EQ(report["overhead"]["nanoseconds_per_launch_outside"], 150);
  EXPECT_EQ(report["overhead"]["nanoseconds_per_launch_inside"], 140);
  EXPECT_EQ(report["ab"]["state"], "off");
}

// The same kernel with the same bytes among two ranks and among four lasts another time.
TEST(CoreReport, TellsCollectivesOfOtherGroupsApart) {
  Program program(rules_of(Policy::observe));
  for (const std::uint32_t ranks : {2U, 4U}) {
    LaunchFacts facts = program.facts(kAllReduce, kCommStream);
    facts.note = {1 << 20, ranks};
    program.launch(facts);
  }
  EXPECT_EQ(json::parse(program.report())["collectives"].size(), 2U);
}

// Two collectives in turn repeat, found after 24 of them; a step takes three repetitions. Those that begin with the 25th, 31st,
// 37th and 43rd of 44 are marked: nine repetitions lie between the first mark and the last. One collective comes each microsecond.
TEST(CoreReport, SaysWhenStepsWerePassedWhateverThePolicy) {
  for (const Policy policy : {Policy::observe, Policy::priority, Policy::gate, Policy::automatic}) {
    Program program(rules_of(policy));
    program.fake.device.bus_id = {"0000:1B:00.0"};
    const std::uint64_t begin = program.now_ns;
    for (int repetition = 0; repetition < 22; ++repetition) {
      for (const FunctionId collective : {kAllReduce, kAllGather}) {
        program.launch(collective, kCommStream);
        program.now_ns += 1'000;
      }
    }
    const json report = json::parse(program.report());
    EXPECT_EQ(report["gpus"], json::array({"0000:1B:00.0"}));
    EXPECT_EQ(report["steps"]["repetitions"], 9) << text(policy);
    EXPECT_EQ(report["steps"]["collectives"], 2);
    EXPECT_EQ(report["steps"]["begin_us"], static_cast<double>(begin) / 1'000 + 24);
    EXPECT_EQ(report["steps"]["end_us"], static_cast<double>(begin) / 1'000 + 42);
  }
}

}  // namespace
}  // namespace elbowroom::interposer
