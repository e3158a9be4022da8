#include <gtest/gtest.h>

#include <string>

#include "elbowroom/model/scenario.hpp"

namespace elbowroom {
namespace {

TEST(CollectiveRules, ACollectivesRootAndSharesAreCheckedAgainstItsRanks) {
  Scenario scenario;
  scenario.name = "s";
  scenario.gpus = 3;
  scenario.compute = Elementwise{ElementwiseOp::gelu, DataType::f32, mebibytes(1)};
  scenario.collective.bytes = Bytes(1'200);
  const auto message = [&](auto change) {
    Scenario changed = scenario;
    change(changed.collective);
    const Status status = validate(changed);
    return status ? "" : status.error().message;
  };
  EXPECT_EQ(message([](Collective& c) { c.root = 0; }), "collective.root: 0, expected none (all_reduce has no root)");
  EXPECT_EQ(message([](Collective& c) { c.shares = {1, 1, 1}; }),
            "collective.shares: 3 of them, expected none (all_reduce sends equal shares)");
  scenario.collective.op = CollectiveOp::broadcast;
  EXPECT_EQ(message([](Collective& c) { c.root = 2; }), "");
  EXPECT_EQ(message([](Collective& c) { c.root = 3; }), "collective.root: 3, expected 0 to 2");
  EXPECT_EQ(message([](Collective& c) { c.bytes = Bytes(1'201); }),
            "collective.bytes: 1201, expected a multiple of 2 (bf16) up to 16 TiB; the next is 1202");
  scenario.collective.op = CollectiveOp::send_recv;
  EXPECT_EQ(message([](Collective&) {}), "collective.op: send_recv among 3 ranks, expected 2");
  scenario.collective.op = CollectiveOp::all_to_all_v;
  EXPECT_EQ(message([](Collective&) {}), "collective.shares: 0 of them, expected 3, one for each rank");
  EXPECT_EQ(message([](Collective& c) { c.shares = {1, 0, 0.5}; }), "");
  EXPECT_EQ(message([](Collective& c) { c.shares = {1, -1, 1}; }), "collective.shares[1]: -1, expected a number from 0 to 1e12");
  EXPECT_EQ(message([](Collective& c) { c.shares = {0, 0, 0}; }), "collective.shares: all 0, expected one above it");
}

TEST(CollectiveRules, ReadsBackRootAndShares) {
  const auto document = [](const std::string& collective) {
    return R"({"schema": "elbowroom.scenario/1", "name": "s", "gpus": 2, "iterations": 1, "pattern": "pair",
      "compute": {"kernel": "elementwise", "op": "gelu", "dtype": "f32", "bytes": "1M"},
      "collective": {"bytes": "1M", "dtype": "bf16", )" +
           collective + "}}";
  };
  for (const char* collective : {R"("op": "broadcast", "root": 1)", R"("op": "all_to_all_v", "shares": [1, 2.5])"}) {
    const Result<Scenario> read = parse_scenario(document(collective), "file");
    ASSERT_TRUE(read) << read.error().message;
    const Result<Scenario> again = parse_scenario(to_json(*read), "file");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*read, *again);
  }
  const Result<Scenario> bad = parse_scenario(document(R"("op": "all_to_all_v", "shares": [1, "all"])"), "file");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message, "file: collective.shares: [1,\"all\"], expected a list of numbers, one for each rank");
}

}  // namespace
}  // namespace elbowroom
