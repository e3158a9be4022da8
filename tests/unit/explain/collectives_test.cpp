#include "explain/collectives.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/explain/trace_text.hpp"

namespace elbowroom::explain {
namespace {

using test::TraceText;

TEST(Collectives, AreWhatTheProgramCalled) {
  // A point-to-point kernel that a call of an all-to-all launched, of 300 x 2048 floats.
  TraceText text;
  text.annotation("nccl:all_to_all", 0, 50, R"("Input Dims": [[300, 2048]], "Input type": ["float"])");
  text.kernel("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*)", 20, 60, 90, 10);
  const std::vector<Collective> found = find_collectives(text.trace());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].op, "all_to_all");
  EXPECT_EQ(found[0].bytes, 300 * 2048 * 4);
}

TEST(Collectives, HaveWhatTheTraceSaysOfThem) {
  TraceText text;
  text.kernel(
      "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", 4, 0, 100, 0,
      R"("Collective name": "all_to_allv", "In msg nelems": 300, "Out msg nelems": 200, "dtype": "BFloat16", "Group size": 2,
                 "Process Group Name": "1", "Process Group Ranks": "[0, 1]", "In split size": "[200, 100]", "Seq": 9)");
  const std::vector<Collective> found = find_collectives(text.trace());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].op, "all_to_all");
  EXPECT_EQ(found[0].bytes, 600);
  EXPECT_EQ(found[0].group_size, 2);
  EXPECT_EQ(found[0].group, "1[0, 1]");
  EXPECT_EQ(found[0].sequence, 9);
  EXPECT_DOUBLE_EQ(found[0].imbalance.value(), 200.0 / 150);
}

TEST(Collectives, AreCopiesBetweenDevicesThatBelongTogether) {
  // Three copies that follow each other within 20 us, then one that comes 100 us later.
  TraceText text;
  text.kernel("a", 7, 0, 10, 0);
  for (const int at : {100, 135, 165, 300}) { text.copy("Memcpy PtoP (Device -> Device)", 30, at, at + 20, 1 << 20); }
  const std::vector<Collective> found = find_collectives(text.trace());
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].op, "copies");
  EXPECT_EQ(found[0].rows, 3U);
  EXPECT_EQ(found[0].bytes, 3 << 20);
  EXPECT_EQ(found[0].time, (Interval{100'000, 185'000}));
  EXPECT_EQ(found[1].rows, 1U);
}

TEST(Collectives, AreCopiesThatACallLaunchedInsteadOfAKernel) {
  // The first call launched a copy of 1 MiB and nothing else, so that a copy engine carried it; the copy of the second prepares its
  // kernel.
  TraceText text;
  text.kernel("a", 7, 0, 10, 0);
  text.annotation("nccl:_all_gather_base", 100, 110).copy("Memcpy DtoD (Device -> Device)", 30, 120, 140, 1 << 20, 105);
  text.annotation("nccl:all_gather", 200, 210).copy("Memcpy DtoD (Device -> Device)", 30, 220, 240, 1 << 20, 204);
  text.kernel("ncclDevKernel_AllGather_RING_LL(x)", 30, 250, 290, 206);
  const std::vector<Collective> found = find_collectives(text.trace());
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].op, "all_gather");
  EXPECT_EQ(found[0].bytes, 1 << 20);
  EXPECT_EQ(found[0].time, (Interval{120'000, 140'000}));
  EXPECT_EQ(found[1].time, (Interval{250'000, 290'000}));
}

TEST(Imbalance, IsTheGreatestOverTheMean) {
  EXPECT_EQ(imbalance_of("[128, 128]"), std::nullopt);
  EXPECT_EQ(imbalance_of("[]"), std::nullopt);
  EXPECT_EQ(imbalance_of("[1, 2, ..., 3]"), std::nullopt);
  EXPECT_DOUBLE_EQ(imbalance_of("[300, 100]").value(), 1.5);
}

}  // namespace
}  // namespace elbowroom::explain
