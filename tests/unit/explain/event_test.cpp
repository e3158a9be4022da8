#include "explain/event.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace elbowroom::explain {
namespace {

TEST(TimeOf, KeepsNanoseconds) {
  EXPECT_EQ(time_of("1365627949869.794"), 1365627949869794);
  EXPECT_EQ(time_of("1669783687464181"), 1669783687464181000);
  // A double has 53 bits: it would end in 680.
  EXPECT_EQ(time_of("1669783687464181.683"), 1669783687464181683);
  EXPECT_EQ(time_of("0.5"), 500);
  EXPECT_EQ(time_of("-2.25"), -2250);
  EXPECT_EQ(time_of("1.5e3"), 1500000);
  EXPECT_EQ(time_of("68.0"), 68000);
  EXPECT_EQ(time_of("1e300"), std::nullopt);
  EXPECT_EQ(time_of("99999999999999999999"), std::nullopt);
  EXPECT_EQ(time_of(""), std::nullopt);
  EXPECT_EQ(time_of("x"), std::nullopt);
}

TEST(WholeOf, TakesAFractionOfZeroes) {
  EXPECT_EQ(whole_of("24"), 24);
  EXPECT_EQ(whole_of("24.0"), 24);
  EXPECT_EQ(whole_of("24.5"), std::nullopt);
  EXPECT_EQ(whole_of("[]"), std::nullopt);
}

TEST(EventParser, TakesWhatAKernelSays) {
  EventParser parser;
  const Event* event = parser.parse(
      R"({"ph": "X", "cat": "kernel", "name": "k\u0041\"", "pid": 1, "tid": 14, "ts": 7.5, "dur": 2,
          "args": {"stream": 14, "device": 1, "correlation": 33, "registers per thread": 96, "shared memory": 42024, "grid": [3, 2, 1],
                   "block": [512, 1, 1], "Collective name": "allreduce", "In split size": "[1, 2]", "deep": {"stream": 5, "grid": [9, 9, 9]}}})");
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(event->name, "kA\"");
  EXPECT_EQ(event->ts, "7.5");
  EXPECT_EQ(event->stream, "14");
  EXPECT_EQ(event->registers, "96");
  EXPECT_THAT(event->grid, ::testing::ElementsAre("3", "2", "1"));
  EXPECT_THAT(event->block, ::testing::ElementsAre("512", "1", "1"));
  EXPECT_EQ(event->collective, "allreduce");
  EXPECT_EQ(event->in_split, "[1, 2]");
}

TEST(EventParser, CountsTheElementsOfTheFirstTensor) {
  EventParser parser;
  const Event* event = parser.parse(R"({"args": {"Input Dims": [[300, 2048], [5]], "Input type": ["float", "int"]}})");
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(event->first_elements, 300 * 2048);
  EXPECT_EQ(event->first_type, "float");
  EXPECT_EQ(parser.parse(R"({"args": {"Input Dims": [[4294967296, 4294967296, 4294967296]]}})")->first_elements, 0);
}

TEST(EventParser, MendsWhatKinetoWritesWrongly) {
  EventParser parser;
  const Event* event =
      parser.parse(R"t({"name": "C:\dir\name", "args": {"memory bandwidth (GB/s)": inf, "x": -nan, "bytes": 8}})t");
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(event->name, "C:/dir\name");  // \n stands for a line's end
  EXPECT_EQ(event->bytes, "8");
  EXPECT_EQ(parser.parse("{\"name\": \"a\tb\"}")->name, "a b");
}

TEST(EventParser, RefusesWhatIsNoObject) {
  EventParser parser;
  EXPECT_EQ(parser.parse(R"({"name": "a)"), nullptr);
  EXPECT_EQ(parser.parse(R"({"name": "a"}})"), nullptr);
  EXPECT_EQ(parser.parse(std::string(100, '[')), nullptr);
  EXPECT_EQ(parser.parse(R"({"a": )" + std::string(100'000, '[') + "}"), nullptr);
}

}  // namespace
}  // namespace elbowroom::explain
