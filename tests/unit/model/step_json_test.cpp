#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <string>

#include "elbowroom/model/step.hpp"

namespace elbowroom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kGelu = R"("compute": {"kernel": "elementwise", "op": "gelu", "dtype": "f32", "bytes": "64M"})";
constexpr const char* kSum = R"("collective": {"op": "all_reduce", "bytes": "64M", "dtype": "bf16"})";

std::string document(const std::string& ranks, const std::string& operations) {
  return R"({"schema": "elbowroom.step/1", "name": "mine", )" + ranks + R"(, "operations": [)" + operations + "]}";
}

std::string compute(const std::string& name, const std::string& more = "") {
  return R"({"name": ")" + name + "\", " + kGelu + more + "}";
}

std::string sum(const std::string& name, const std::string& more = "") {
  return R"({"name": ")" + name + "\", " + kSum + more + "}";
}

std::string refusal(const std::string& text) {
  const Result<Step> step = parse_step(text, "file");
  return step ? "" : step.error().message;
}

TEST(StepJson, ReadsTheContractsExample) {
  const std::string transfer =
      R"({"name": "act", "send_recv": {"bytes": "16M", "dtype": "bf16"}, "group": "pp", "from": 0, "to": 1, "after": ["mlp1"]})";
  const Result<Step> step =
      parse_step(R"({"schema": "elbowroom.step/1", "name": "ffn-dp2", "repeats": 4, "mesh": {"pp": 2, "dp": 4}, "operations": [)" +
                     compute("mlp1") + "," + sum("grad1", R"(, "group": "dp", "after": ["mlp1", "head@-1"])") + "," + transfer +
                     "," + compute("head", R"(, "at": {"pp": 1}, "after": ["act"], "lane": "side", "host_gap_us": 2.5)") + "]}",
                 "file");
  ASSERT_TRUE(step) << step.error().message;
  EXPECT_EQ(step->repeats, 4);
  EXPECT_EQ(step->ranks, 8);
  // As written, not sorted: the first axis varies slowest.
  EXPECT_THAT(step->mesh, ElementsAre(MeshAxis{"pp", 2}, MeshAxis{"dp", 4}));
  EXPECT_THAT(communicators_of(*step, step->operations[1]), ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(4, 5, 6, 7)));
  EXPECT_THAT(step->operations[1].after, ElementsAre(Dependency{0, false}, Dependency{3, true}));
  EXPECT_EQ(step->operations[2].what, Work(SendRecv{mebibytes(16), DataType::bf16, 0, 1}));
  EXPECT_THAT(ranks_of(*step, step->operations[3]), ElementsAre(4, 5, 6, 7));
  EXPECT_EQ(step->operations[3].lane, "side");
  EXPECT_EQ(step->operations[3].host_gap, Microseconds(2.5));
}

TEST(StepJson, FourThousandRanksAreAFewLines) {
  const Result<Step> step =
      parse_step(document(R"("mesh": {"dp": 64, "pp": 8, "tp": 8})", sum("grad", R"(, "group": ["dp", "tp"])")), "file");
  ASSERT_TRUE(step) << step.error().message;
  EXPECT_EQ(step->ranks, 4'096);
  EXPECT_EQ(communicator_size(*step, step->operations[0]), 512);
  EXPECT_EQ(communicators_of(*step, step->operations[0]).size(), 8U);
}

TEST(StepJson, RanksMayBeNamedOneByOne) {
  const Result<Step> step =
      parse_step(document(R"("ranks": 4, "groups": [{"name": "odd", "ranks": [3, 1]}])",
                          compute("a", R"(, "at": "odd")") + "," + sum("s", R"(, "group": "odd", "after": ["a"])")),
                 "file");
  ASSERT_TRUE(step) << step.error().message;
  EXPECT_THAT(ranks_of(*step, step->operations[0]), ElementsAre(1, 3));
  EXPECT_THAT(communicators_of(*step, step->operations[1]), ElementsAre(ElementsAre(3, 1)));
}

TEST(StepJson, ARecordedKernelKeepsWhatIsKnown) {
  const std::string kernel =
      R"({"name": "k", "compute": {"kernel": "recorded", "name": "void gemm<128>", "us": [12.1, 12.3], "blocks": 132, "footprint": {"threads": 256, "registers": 56}}})";
  const Result<Step> step = parse_step(document(R"("ranks": 1)", kernel), "file");
  ASSERT_TRUE(step) << step.error().message;
  EXPECT_EQ(step->operations[0].what, Work(RecordedKernel{"void gemm<128>",
                                                          {Microseconds(12.1), Microseconds(12.3)},
                                                          Blocks(132),
                                                          Threads(256),
                                                          Registers(56),
                                                          std::nullopt,
                                                          std::nullopt,
                                                          std::nullopt}));
}

TEST(StepJson, AScenarioIsReadAsItsStep) {
  const std::string text =
      std::string(R"({"schema": "elbowroom.scenario/1", "name": "mine", "gpus": 2, "iterations": 8, "pattern": "pipeline", )") +
      kGelu + ", " + kSum + "}";
  EXPECT_EQ(*parse_step(text, "file"), step_of(*parse_scenario(text, "file")));
}

TEST(StepJson, RefusalsNameTheFieldItsValueAndWhatWasExpected) {
  const std::string two = R"("ranks": 2)";
  EXPECT_EQ(refusal(document(two, compute("a", R"(, "after": ["b"])"))),
            "file: operations[0].after: \"b\", expected the name of an operation, or name@-1 for the repeat before");
  EXPECT_EQ(refusal(document(two, compute("a", R"(, "after": ["b"])") + "," + compute("b", R"(, "after": ["a"])"))),
            "file: operations[0].after: \"a\" waits for itself by way of others, expected an order without circles");
  EXPECT_EQ(refusal(document(two, compute("a", R"(, "after": ["a@-1"])"))), "");
  EXPECT_EQ(refusal(document(two, compute("a") + "," + compute("a"))),
            "file: operations[1].name: \"a\" twice, expected each name once");
  EXPECT_THAT(refusal(document(two, compute("a", R"(, "speed": 1)"))), HasSubstr("file: operations[0].\"speed\": unknown field"));
  EXPECT_EQ(refusal(document(two, R"({"name": "a"})")),
            "file: operations[0].compute: none of compute, collective and send_recv, expected one");
  EXPECT_EQ(refusal(document(two, sum("a", R"(, "group": "dp")"))),
            "file: operations[0].group: \"dp\", expected the name of a group");
  const std::string mesh = R"("mesh": {"dp": 2, "pp": 2})";
  EXPECT_EQ(refusal(document(mesh, sum("a", R"(, "group": "tp")"))),
            "file: operations[0].group: \"tp\", expected the name of an axis of the mesh, or a list of them");
  EXPECT_EQ(refusal(document(mesh, compute("a", R"(, "at": {"pp": 2})"))), "file: operations[0].at.pp: 2, expected 0 to 1");
  EXPECT_EQ(refusal(document(mesh, sum("a", R"(, "group": "pp", "at": {"pp": 1})"))),
            "file: operations[0].at: 1, expected axes of the mesh that are not among the group's");
  EXPECT_EQ(refusal(document(mesh, compute("a", R"(, "group": "pp")"))),
            "file: operations[0].group: given, expected none (a computation communicates with nobody)");
  EXPECT_EQ(
      refusal(document(mesh, R"({"name": "a", "send_recv": {"bytes": 16, "dtype": "bf16"}, "group": "pp", "from": 0, "to": 2})")),
      "file: operations[0].to: 2, expected 0 to 1");
  EXPECT_EQ(
      refusal(document(mesh, R"({"name": "a", "send_recv": {"bytes": 16, "dtype": "bf16"}, "group": "pp", "from": 1, "to": 1})")),
      "file: operations[0].to: 1, expected another one than from");
  EXPECT_EQ(
      refusal(document(mesh, compute("a", R"(, "at": {"pp": 0})") + "," + compute("b", R"(, "at": {"pp": 1}, "after": ["a"])"))),
      "file: operations[1].after: \"a\", expected an operation that shares a rank (ranks wait for others by communication alone)");
  // Ranks of a message are its two ends, of every replica.
  const auto behind_a_send = [](const char* at) {
    return document(R"("mesh": {"dp": 2, "pp": 3})",
                    R"({"name": "a", "send_recv": {"bytes": 16, "dtype": "bf16"}, "group": "pp", "from": 2, "to": 1},)" +
                        compute("b", R"(, "after": ["a"], "at": )" + std::string(at)));
  };
  EXPECT_EQ(refusal(behind_a_send(R"({"pp": 1})")), "");
  EXPECT_EQ(refusal(behind_a_send(R"({"dp": 1, "pp": 2})")), "");
  EXPECT_THAT(refusal(behind_a_send(R"({"pp": 0})")),
              HasSubstr("operations[1].after: \"a\", expected an operation that shares a rank"));
  EXPECT_EQ(refusal(document(R"("ranks": 1)", sum("a"))), "file: operations[0].group: 1, expected at least 2 ranks to communicate");
  EXPECT_EQ(refusal(document(R"("mesh": {"dp": 64, "pp": 65})", compute("a"))),
            "file: mesh: 4160, expected at most 4096 ranks in all");
  EXPECT_EQ(refusal(document(R"("mesh": {"dp": 0})", compute("a"))),
            "file: mesh.\"dp\": 0, expected a whole number from 1 to 4096");
  EXPECT_EQ(refusal(document(R"("ranks": 2, "groups": [{"name": "g", "ranks": [0, 2]}])", compute("a"))),
            "file: groups.g: 2, expected different ranks from 0 to 1");
  EXPECT_EQ(refusal(document(two, R"({"name": "a", "collective": {"op": "all_reduce", "bytes": 6, "dtype": "bf16"}})")),
            "file: operations[0].collective.bytes: 6, expected a multiple of 4 (2 ranks of bf16) up to 16 TiB; the next is 8");
  EXPECT_EQ(refusal(document(two, "")), "file: operations: 0, expected 1 to 65536 of them");
}

Step any_step() {
  Step step;
  step.name = "any";
  step.repeats = *rc::gen::inRange(1, 5);
  if (*rc::gen::arbitrary<bool>()) {
    step.memory = TrainingMemory{Bytes(*rc::gen::inRange(0, 9)), Bytes(1), Bytes(0), kibibytes(1 << 20)};
  }
  const bool mesh = *rc::gen::arbitrary<bool>();
  if (mesh) {
    step.mesh = {{"zz", 2}, {"aa", *rc::gen::inRange(1, 4)}};
  } else {
    step.groups = {{"g", {1, 0}}, {"all", {0, 1, 2, 3}}};
  }
  step.ranks = mesh ? 2 * step.mesh[1].size : 4;
  const int count = *rc::gen::inRange(1, 6);
  for (int at = 0; at < count; ++at) {
    Operation operation;
    operation.name = "o" + std::to_string(at);
    const int kind = *rc::gen::inRange(0, 4);
    if (kind == 0) { operation.what = Elementwise{ElementwiseOp::relu, DataType::bf16, Bytes(16 * *rc::gen::inRange(1, 100))}; }
    if (kind == 1) {
      RecordedKernel kernel{"k", {Microseconds(*rc::gen::inRange(1, 1000) / 7.0)}, Blocks(3), {}, {}, {}, {}, {}};
      if (*rc::gen::arbitrary<bool>()) { kernel.threads = Threads(*rc::gen::inRange(1, 1025)); }
      if (*rc::gen::arbitrary<bool>()) { kernel.dynamic_shared = Bytes(*rc::gen::inRange(0, 1025)); }
      operation.what = kernel;
    }
    if (kind == 2) {
      operation.what = Collective{CollectiveOp::all_gather, Bytes(4'800), DataType::f32, std::nullopt, std::nullopt};
    }
    if (kind == 3) { operation.what = SendRecv{Bytes(64), DataType::f32, 0, 1}; }
    if (kind >= 2 && !mesh) { operation.group = *rc::gen::inRange(0, 2); }
    if (kind >= 2 && mesh) { operation.along = {0}; }
    if (kind == 2 && mesh && *rc::gen::arbitrary<bool>()) { operation.along = {1, 0}; }
    if (kind < 2 && *rc::gen::arbitrary<bool>()) {
      if (mesh) {
        operation.at = {{0, 1}, {1, 0}};
      } else {
        operation.at_group = 1;
      }
    }
    if (*rc::gen::arbitrary<bool>()) { operation.lane = "side"; }
    operation.host_gap = Microseconds(*rc::gen::inRange(0, 10) / 3.0);
    for (int before = 0; before < at; ++before) {
      if (*rc::gen::inRange(0, 3) == 0) { operation.after.push_back({before, *rc::gen::arbitrary<bool>()}); }
    }
    step.operations.push_back(std::move(operation));
  }
  return step;
}

RC_GTEST_PROP(StepJson, WhatIsWrittenIsReadBack, ()) {
  const Step step = any_step();
  RC_PRE(validate(step).ok());
  const Result<Step> again = parse_step(to_json(step), "written");
  RC_ASSERT(again.ok());
  RC_ASSERT(*again == step);
}

}  // namespace
}  // namespace elbowroom
