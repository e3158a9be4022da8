#include "preload/same_bits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace elbowroom::preload {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(SameBits, AreAskedForByTheOptionOrByWhatMakesLibrariesDeterministic) {
  EXPECT_EQ(same_bits_asked_by(true, {}), "--same-bits");
  EXPECT_EQ(same_bits_asked_by(false, {}), std::nullopt);
  EXPECT_EQ(same_bits_asked_by(false, {{"CUBLAS_WORKSPACE_CONFIG", ":4096:8"}}), "CUBLAS_WORKSPACE_CONFIG=:4096:8");
  EXPECT_EQ(same_bits_asked_by(false, {{"CUBLAS_WORKSPACE_CONFIG", ":4096:2"}}), std::nullopt) << "another workspace";
  EXPECT_EQ(same_bits_asked_by(false, {{"NCCL_ALGO", "Ring"}}), "NCCL_ALGO=Ring");
  EXPECT_EQ(same_bits_asked_by(false, {{"NCCL_ALGO", ""}}), std::nullopt) << "set to nothing";
  EXPECT_EQ(same_bits_asked_by(false, {{"NCCL_MAX_CTAS", "8"}}), std::nullopt) << "an algorithm is not fixed by it";
}

TEST(SameBits, RefuseWhatMayChangeThem) {
  EXPECT_TRUE(check_same_bits({}));
  Controls cluster;
  cluster.comm_library = {{"NCCL_CGA_CLUSTER_SIZE", "1"}};
  EXPECT_TRUE(check_same_bits(cluster)) << "no sum's order depends on it";
  Controls targeted;
  targeted.sm_target = Sms(108);
  EXPECT_EQ(check_same_bits(targeted).error().message,
            "--sm-target: not beside --same-bits, because cuBLAS may take another algorithm for it; expected one of them");
  Controls symmetric;
  symmetric.comm_library = {{"NCCL_SYM_CTAS", "8"}};
  EXPECT_EQ(check_same_bits(symmetric).error().message,
            "--set: NCCL_SYM_CTAS not beside --same-bits, because the order of a sum's terms depends on it; expected one of them");
  Controls blocks;
  blocks.comm_library = {{"NCCL_MIN_CTAS", "8"}, {"NCCL_MAX_CTAS", "8"}};
  EXPECT_EQ(check_same_bits(blocks).error().message,
            "--set: NCCL_MIN_CTAS not beside --same-bits, because the order of a sum's terms depends on it; expected one of them");
}

TEST(SameBits, LeaveOutWhatAProfileOffers) {
  Controls offered;
  offered.comm_library = {{"NCCL_MAX_CTAS", "8"}, {"NCCL_CGA_CLUSTER_SIZE", "1"}};
  offered.product_targets = {{"h200", {DataType::bf16, 40}, Sms(104)}};
  EXPECT_EQ(leave_other_bits(offered), "SM targets, blocks and threads of collectives");
  EXPECT_THAT(offered.comm_library, ElementsAre(Pair("NCCL_CGA_CLUSTER_SIZE", "1")));
  EXPECT_TRUE(offered.product_targets.empty());
  EXPECT_EQ(leave_other_bits(offered), std::nullopt) << "nothing is left to leave out";
}

}  // namespace
}  // namespace elbowroom::preload
