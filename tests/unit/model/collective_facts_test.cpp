#include "elbowroom/model/collective_facts.hpp"

#include <gtest/gtest.h>

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

double sent(CollectiveOp op) {
  Collective collective;
  collective.op = op;
  collective.bytes = Bytes(1200);
  return facts_of(op).sent(collective, 4);
}

TEST(CollectiveFacts, SayWhatARankSends) {
  // Of 1,200 bytes on four ranks a share is 300; a ring passes three shares on, an all-reduce twice.
  EXPECT_DOUBLE_EQ(1800, sent(CollectiveOp::all_reduce));
  for (const CollectiveOp op : {CollectiveOp::all_gather, CollectiveOp::reduce_scatter, CollectiveOp::all_to_all}) {
    EXPECT_DOUBLE_EQ(900, sent(op)) << to_string(op);
  }
}

TEST(CollectiveFacts, GiveAReasonForWhatEnginesAndSymmetricMemoryCannot) {
  for (const CollectiveFacts& facts : collectives()) {
    EXPECT_EQ(facts.engines == CollectiveFacts::Engines::nothing, !facts.no_engines.empty()) << facts.name;
    EXPECT_TRUE(!facts.exchanges || !facts.without_symmetric.empty()) << facts.name;
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
  EXPECT_EQ("rccl-5.2", comm_kernel_of(CollectiveOp::all_to_all, *find_device("mi250x")));
}

}  // namespace
}  // namespace elbowroom
