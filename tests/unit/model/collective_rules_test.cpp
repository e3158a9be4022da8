#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "elbowroom/model/collective_facts.hpp"
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

/// A size that ranks do not share is refused with the next one that they do.
RC_GTEST_PROP(CollectiveRulesProperty, ARefusedSizeNamesTheNextThatWorks, ()) {
  std::vector<CollectiveOp> ops;
  for (const CollectiveFacts& facts : collectives()) { ops.push_back(facts.op); }
  Scenario scenario;
  scenario.name = "s";
  scenario.compute = Elementwise{ElementwiseOp::gelu, DataType::f32, mebibytes(1)};
  Collective& collective = scenario.collective;
  collective.op = *rc::gen::elementOf(ops);
  const std::optional<int> fixed = facts_of(collective.op).ranks;
  scenario.gpus = fixed ? *fixed : *rc::gen::oneOf(rc::gen::inRange(2, 9), rc::gen::inRange(9, 4'097));
  if (facts_of(collective.op).takes == CollectiveFacts::Takes::shares) {
    collective.shares.assign(static_cast<std::size_t>(scenario.gpus), 1);
  }
  collective.dtype = *rc::gen::element(DataType::f32, DataType::bf16);
  collective.bytes = Bytes(*rc::gen::inRange<std::int64_t>(1, std::int64_t{1} << 40));
  const std::int64_t share = size_of(collective.dtype).count() * (facts_of(collective.op).divides ? scenario.gpus : 1);
  const Status status = validate(scenario);
  RC_ASSERT(static_cast<bool>(status) == (collective.bytes.count() % share == 0));
  RC_PRE(!status);
  const std::string& message = status.error().message;
  const std::string says = "; the next is ";
  const std::size_t at = message.find(says);
  RC_ASSERT(at != std::string::npos);
  std::int64_t next = 0;
  std::from_chars(message.data() + at + says.size(), message.data() + message.size(), next);
  RC_ASSERT(next > collective.bytes.count());
  RC_ASSERT(next - collective.bytes.count() < share);
  collective.bytes = Bytes(next);
  RC_ASSERT(static_cast<bool>(validate(scenario)));
}

}  // namespace
}  // namespace elbowroom
