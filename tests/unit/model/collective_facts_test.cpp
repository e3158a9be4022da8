#include "elbowroom/model/collective_facts.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "elbowroom/model/comm_catalog.hpp"
#include "elbowroom/model/device_catalog.hpp"

namespace elbowroom {
namespace {

TEST(CollectiveFacts, StandInTheOrderOfTheEnumeration) {
  for (const CollectiveFacts& facts : collectives()) {
    EXPECT_EQ(&facts, &facts_of(facts.op));
    EXPECT_EQ(facts.name, to_string(facts.op));
  }
}

Collective collective(CollectiveOp op, std::vector<double> shares = {}, std::optional<int> root = {}) {
  return {op, Bytes(1200), DataType::bf16, std::nullopt, std::nullopt, root, std::move(shares)};
}

double sent(CollectiveOp op, int ranks, std::vector<double> shares = {}) {
  return facts_of(op).sent(collective(op, std::move(shares)), ranks);
}

TEST(CollectiveFacts, SayWhatARankSends) {
  // Of 1,200 bytes on four ranks a share is 300; a ring passes three shares on, an all-reduce twice.
  EXPECT_DOUBLE_EQ(1800, sent(CollectiveOp::all_reduce, 4));
  for (const CollectiveOp op : {CollectiveOp::all_gather, CollectiveOp::reduce_scatter, CollectiveOp::all_to_all}) {
    EXPECT_DOUBLE_EQ(900, sent(op, 4)) << to_string(op);
  }
  // All of it goes over each link of a ring, or over the one link that there is.
  EXPECT_DOUBLE_EQ(1200, sent(CollectiveOp::broadcast, 4));
  EXPECT_DOUBLE_EQ(1200, sent(CollectiveOp::send_recv, 2));
  // Shares of 600, 300 and 300 bytes: the first rank gets 600 from each of the two others, which is more than the 900 that they
  // send.
  EXPECT_DOUBLE_EQ(1200, sent(CollectiveOp::all_to_all_v, 3, {2, 1, 1}));
  // Nothing for the first: it sends all 1,200.
  EXPECT_DOUBLE_EQ(1200, sent(CollectiveOp::all_to_all_v, 3, {0, 1, 1}));
  EXPECT_DOUBLE_EQ(sent(CollectiveOp::all_to_all, 4), sent(CollectiveOp::all_to_all_v, 4, {1, 1, 1, 1}));
}

RankData data(const Collective& what, int ranks, int rank) { return facts_of(what.op).data(what, ranks, rank); }

TEST(CollectiveFacts, SayWhatARankHolds) {
  // 600 elements on three ranks.
  EXPECT_EQ(data(collective(CollectiveOp::all_reduce), 3, 1), (RankData{600, 600, true, 0, 3, 0}));
  EXPECT_EQ(data(collective(CollectiveOp::all_gather), 3, 1), (RankData{200, 600, false, 0, 3, 0}));
  EXPECT_EQ(data(collective(CollectiveOp::reduce_scatter), 3, 1), (RankData{600, 200, true, 0, 3, 200}));
  EXPECT_EQ(data(collective(CollectiveOp::all_to_all), 3, 1), (RankData{600, 600, false, 0, 3, 200}));
  EXPECT_EQ(data(collective(CollectiveOp::broadcast, {}, 2), 3, 1), (RankData{0, 600, false, 2, 1, 0}));
  EXPECT_EQ(data(collective(CollectiveOp::broadcast, {}, 2), 3, 2), (RankData{600, 600, false, 2, 1, 0}));
  EXPECT_EQ(data(collective(CollectiveOp::send_recv), 2, 0), (RankData{600, 0, false, 0, 0, 0}));
  EXPECT_EQ(data(collective(CollectiveOp::send_recv), 2, 1), (RankData{0, 600, false, 0, 1, 0}));
  // Shares of 1, 2 and 3 sixths: 100, 200 and 300 elements of every rank.
  const Collective uneven = collective(CollectiveOp::all_to_all_v, {1, 2, 3});
  EXPECT_EQ(data(uneven, 3, 0), (RankData{600, 300, false, 0, 3, 0}));
  EXPECT_EQ(data(uneven, 3, 1), (RankData{600, 600, false, 0, 3, 100}));
  EXPECT_EQ(data(uneven, 3, 2), (RankData{600, 900, false, 0, 3, 300}));
}

// Whatever the shares are, those of all ranks are the whole, one after the other.
RC_GTEST_PROP(CollectiveFacts, SharesAddUpToWhatIsSent, ()) {
  const int ranks = *rc::gen::inRange(2, 9);
  Collective uneven;
  uneven.op = CollectiveOp::all_to_all_v;
  uneven.bytes = Bytes(2 * *rc::gen::inRange<std::int64_t>(1, std::int64_t{1} << 40));
  for (int rank = 0; rank < ranks; ++rank) { uneven.shares.push_back(*rc::gen::inRange(0, 1'000'000) / 7.0); }
  uneven.shares[static_cast<std::size_t>(*rc::gen::inRange(0, ranks))] += 1;
  std::int64_t reached = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const RankData part = data(uneven, ranks, rank);
    RC_ASSERT(part.offset == reached);
    RC_ASSERT(part.of_each() >= 0);
    reached += part.of_each();
  }
  RC_ASSERT(reached == uneven.bytes.count() / 2);
}

TEST(CollectiveFacts, AShareOfNothingIsNothing) {
  const Collective uneven = collective(CollectiveOp::all_to_all_v, {0, 1, 0});
  EXPECT_EQ(data(uneven, 3, 0).received, 0);
  EXPECT_EQ(data(uneven, 3, 1).received, 1800);
  EXPECT_EQ(data(uneven, 3, 2).received, 0);
}

TEST(CollectiveFacts, GiveAReasonForWhatEnginesAndSymmetricMemoryCannot) {
  for (const CollectiveFacts& facts : collectives()) {
    EXPECT_EQ(facts.engines == CollectiveFacts::Engines::nothing, facts.no_engines.has_value()) << facts.name;
    EXPECT_TRUE(!facts.exchanges || facts.without_symmetric.has_value()) << facts.name;
  }
}

TEST(CommBlocks, AreTheLibrarysOnThatDevice) {
  const auto blocks = [](CollectiveOp op, const char* device) { return comm_blocks_of(op, *find_device(device)); };
  EXPECT_EQ(Blocks(24), blocks(CollectiveOp::all_reduce, "h200"));
  EXPECT_EQ(Blocks(32), blocks(CollectiveOp::all_to_all, "h200"));
  EXPECT_EQ(Blocks(24), blocks(CollectiveOp::all_gather, "a100"));
  EXPECT_EQ(Blocks(4), blocks(CollectiveOp::all_reduce, "a40"));  // PCIe: fewer channels
  EXPECT_EQ(Blocks(4), blocks(CollectiveOp::all_to_all, "a40"));
  EXPECT_EQ(Blocks(24), blocks(CollectiveOp::reduce_scatter, "mi250x"));
  EXPECT_EQ(Blocks(32), blocks(CollectiveOp::all_reduce, "mi300x"));
}

TEST(CommKernel, OfAnExchangeIsThatOfSendAndReceive) {
  EXPECT_EQ("nccl-2.28:640", comm_kernel_of(CollectiveOp::all_to_all, *find_device("h200")));
  EXPECT_EQ("nccl-2.28:544", comm_kernel_of(CollectiveOp::all_gather, *find_device("h200")));
  EXPECT_EQ("nccl-2.28:640", comm_kernel_of(CollectiveOp::send_recv, *find_device("h200")));
  EXPECT_EQ("nccl-2.30:640", comm_kernel_of(CollectiveOp::send_recv, *find_device("h200"), CommRelease{2, 30}));
  EXPECT_EQ("nccl-2.28:544", comm_kernel_of(CollectiveOp::broadcast, *find_device("h200")));
  EXPECT_EQ("rccl-5.2", comm_kernel_of(CollectiveOp::all_to_all, *find_device("mi250x")));
}

}  // namespace
}  // namespace elbowroom
