#include "backend_sim/comm_model.hpp"

#include <gtest/gtest.h>

#include "elbowroom/plan/launch_settings.hpp"
#include "small_machine.hpp"

namespace elbowroom::sim {
namespace {

double traffic(CollectiveOp op) {
  return comm_profile({op, mebibytes(512), DataType::bf16, std::nullopt, std::nullopt}, {}, 2, h200())->traffic;
}

// The table of fitted values in docs/simulator.md: bytes of device memory for each byte sent.
TEST(CommModel, WhatIsReducedCostsMoreMemoryTrafficThanWhatIsCopied) {
  EXPECT_DOUBLE_EQ(6, traffic(CollectiveOp::all_reduce));
  EXPECT_DOUBLE_EQ(6, traffic(CollectiveOp::reduce_scatter));
  EXPECT_DOUBLE_EQ(2, traffic(CollectiveOp::all_gather));
  EXPECT_DOUBLE_EQ(2, traffic(CollectiveOp::all_to_all));
}

}  // namespace
}  // namespace elbowroom::sim
