#include "elbowroom/network/ring_time.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace elbowroom {
namespace {

/// 8 GPUs a host, 100 bytes a microsecond between them, two rails of 10 of which half is reached.
MachineSpec slow_machine() {
  MachineSpec machine;
  machine.name = "slow";
  machine.links = {100, 0.5, 0.5, Microseconds(10), Microseconds(1)};
  machine.rails = {2, 10, 0.5};
  return machine;
}

// 4 ranks: 6 steps of 1,000 bytes. From rank to rank 10 + 4 x 1 = 14 us. With flags 10 + 6,000 / 50 = 130; without
// 14 + 6.5 x 1,000 / 100 = 79.
TEST(RingTime, LargeMessagesGoWithoutFlags) {
  EXPECT_DOUBLE_EQ(all_reduce_time(Bytes(4'000), {4, 4, 1}, slow_machine()).count(), 79);
}

// 40 bytes: 6 steps of 10. With flags 10 + 60 / 50 = 11.2, without 14 + 0.65; no rank has heard of the last one before 14.
TEST(RingTime, SmallMessagesTakeTheWayFromRankToRank) {
  EXPECT_DOUBLE_EQ(all_reduce_time(Bytes(40), {4, 4, 1}, slow_machine()).count(), 14);
  // 400 bytes: with flags 10 + 600 / 50 = 22, without 14 + 6.5 = 20.5.
  EXPECT_DOUBLE_EQ(all_reduce_time(Bytes(400), {4, 4, 1}, slow_machine()).count(), 20.5);
}

TEST(RingTime, OneRankSendsNothing) { EXPECT_EQ(all_reduce_time(Bytes(4'000), {1, 1, 1}, slow_machine()).count(), 0); }

/// The same with switches that add, at 0.8 of the links.
MachineSpec adding_machine() {
  MachineSpec machine = slow_machine();
  machine.links.switch_share = 0.8;
  return machine;
}

// 8 ranks, 80,000 bytes. Ring: 10 + 8 + 14.5 x 10,000 / 100 = 1,468 us. By the switch 9/8 of the bytes at 80: 10 + 1 + 1,125.
// 80 bytes: with flags 10 + 140 / 50 = 12.8 and not before 18; by the switch 11 + 90 / 80.
TEST(AllReduceChoice, SwitchesAddWhereTheMachineSaysSo) {
  const RingPlace host{8, 8, 1};
  EXPECT_EQ(all_reduce_choice(Bytes(80'000), host, slow_machine()), (AllReduceChoice{AllReduceWay::ring, Microseconds(1'468)}));
  EXPECT_EQ(all_reduce_choice(Bytes(80'000), host, adding_machine()), (AllReduceChoice{AllReduceWay::nvls, Microseconds(1'136)}));
  EXPECT_EQ(all_reduce_choice(Bytes(80), host, adding_machine()), (AllReduceChoice{AllReduceWay::nvls, Microseconds(12.125)}));
}

// Two ranks send 3/2 of their bytes by the switch and once by a ring: 10 + 2 + 2.5 x 40,000 / 100.
TEST(AllReduceChoice, TwoRanksUseNoSwitch) {
  EXPECT_EQ(all_reduce_choice(Bytes(80'000), {2, 2, 1}, adding_machine()),
            (AllReduceChoice{AllReduceWay::ring, Microseconds(1'012)}));
}

// 16 hosts of 8, whose rails carry 10: 2 x 127/128 of 128,000 bytes take 25,400 us. A tree passes 16 ranks, and one behind each
// switch 9: 10 + 9 + 25,400. Without switches 26 + 254.5 x 1,000 / 10.
TEST(AllReduceChoice, ATreeJoinsHostsWhoseSwitchesAdd) {
  const RingPlace hosts{128, 8, 1};
  EXPECT_EQ(all_reduce_choice(Bytes(128'000), hosts, adding_machine()),
            (AllReduceChoice{AllReduceWay::nvls_tree, Microseconds(25'419)}));
  EXPECT_EQ(all_reduce_choice(Bytes(128'000), hosts, slow_machine()), (AllReduceChoice{AllReduceWay::tree, Microseconds(25'476)}));
  // Two GPUs of two hosts are a ring: 10 + 2 + 2.5 x 1,000 / 10.
  EXPECT_EQ(all_reduce_choice(Bytes(2'000), {2, 1, 1}, slow_machine()).way, AllReduceWay::ring);
}

// Two rails of 10 x 0.5 are 10 bytes a microsecond of a host; with five rings beside each other 2 each. 14 + 6.5 x 1,000 / 2.
TEST(RingTime, RingsOfAHostShareItsRails) {
  EXPECT_DOUBLE_EQ(all_reduce_time(Bytes(4'000), {4, 1, 5}, slow_machine()).count(), 3'264);
}

// 16 hosts of 8 in a ring are 128 ranks; a tree of hosts is 4 deep, up and down, and has 8 in a chain: 10 + 16 x 1.
TEST(WayTime, TreesAreShorterThanLongRings) {
  const RingPlace place{128, 8, 1};
  EXPECT_DOUBLE_EQ(way_time(CollectiveOp::all_reduce, place, slow_machine()).count(), 26);
  EXPECT_DOUBLE_EQ(way_time(CollectiveOp::all_gather, place, slow_machine()).count(), 138);
  EXPECT_DOUBLE_EQ(way_time(CollectiveOp::all_reduce, {8, 8, 1}, slow_machine()).count(), 18);
}

// Of what a rank sends to 15 others 8 get it over the rails, of which each of 8 ranks has 10 / 8 = 1.25: 1.25 x 15 / 8.
TEST(SendingRate, WhatStaysOnTheHostTakesNoRail) {
  EXPECT_DOUBLE_EQ(sending_rate(CollectiveOp::all_to_all, {16, 8, 1}, slow_machine()), 1.25 * 15 / 8);
  EXPECT_DOUBLE_EQ(sending_rate(CollectiveOp::all_gather, {16, 8, 1}, slow_machine()), 10);
  EXPECT_DOUBLE_EQ(sending_rate(CollectiveOp::all_to_all, {8, 8, 1}, slow_machine()), 100);
}

TEST(RingTime, RanksLieOneBehindTheOther) {
  const MachineSpec machine = slow_machine();
  EXPECT_TRUE(ring_place(8, 1, machine).within_host());
  // Every second rank: four in a host, and two such rings.
  const RingPlace strided = ring_place(16, 2, machine);
  EXPECT_EQ(strided.per_host, 4);
  EXPECT_EQ(strided.rings_of_host, 2);
  EXPECT_FALSE(strided.within_host());
  // One of each host: eight rings leave it.
  EXPECT_EQ(ring_place(4, 8, machine).rings_of_host, 8);
  EXPECT_EQ(ring_place(4, 64, machine).per_host, 1);
}

// 100 bytes: 100 / 100 within a host. To another one each of 8 GPUs has an eighth of 10: 100 / 1.25.
TEST(RingTime, AMessageSharesItsHostsRails) {
  EXPECT_DOUBLE_EQ(message_time(Bytes(100), true, slow_machine()).count(), 1);
  EXPECT_DOUBLE_EQ(message_time(Bytes(100), false, slow_machine()).count(), 80);
}

// All-reduces of 1 MiB to 1 GiB that others measured among 2 to 8 A100. Constants rest on 2, 4 and 8; 3, 5, 6 and 7 are predicted.
TEST(RingTime, AllReducesOfA100AreAsMeasured) {
  const std::filesystem::path file = std::filesystem::path(ELBOWROOM_SOURCE_DIR) / "../shared/validation/all-reduce-a100.csv";
  std::ifstream csv(file);
  if (!csv) { GTEST_SKIP() << "no ../shared/validation/all-reduce-a100.csv"; }
  const MachineSpec machine = *find_machine("a100-4x200");
  std::vector<double> all, predicted;
  std::string line;
  std::getline(csv, line);
  while (std::getline(csv, line)) {
    std::ranges::replace(line, ',', ' ');
    std::istringstream fields(line);
    int gpus = 0;
    std::int64_t bytes = 0;
    double measured = 0;
    fields >> gpus >> bytes >> measured;
    const double error = std::abs(all_reduce_time(Bytes(bytes), ring_place(gpus, 1, machine), machine).count() / measured - 1);
    all.push_back(error);
    if (gpus != 2 && gpus != 4 && gpus != 8) { predicted.push_back(error); }
  }
  ASSERT_EQ(all.size(), 77U);
  for (std::vector<double>* errors : {&all, &predicted}) {
    std::ranges::sort(*errors);
    EXPECT_LT((*errors)[errors->size() / 2], 0.10);
  }
}

}  // namespace
}  // namespace elbowroom
