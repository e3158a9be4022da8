#include "interposer/core/conf_text.hpp"

#include <gtest/gtest.h>

namespace elbowroom::interposer {
namespace {

TEST(ConfText, TheFirstLineOfANameCounts) {
  constexpr std::string_view text = "# NCCL_A=0\nNCCL_AB=1\nNCCL_A=2=3\nNCCL_A=4\nNCCL_EMPTY=\nNCCL_LAST=5";
  EXPECT_EQ(conf_value(text, "NCCL_A"), "2=3");
  EXPECT_EQ(conf_value(text, "NCCL_AB"), "1");
  EXPECT_EQ(conf_value(text, "NCCL_LAST"), "5");
  EXPECT_EQ(conf_value(text, "NCCL_EMPTY"), "");
  EXPECT_NE(conf_value(text, "NCCL_EMPTY").data(), nullptr);
  EXPECT_EQ(conf_value(text, "NCCL").data(), nullptr);
  EXPECT_EQ(conf_value("", "NCCL_A").data(), nullptr);
}

// NCCL takes what stands before the sign as it is.
TEST(ConfText, BlanksBelongToTheName) { EXPECT_EQ(conf_value("NCCL_A =1\n NCCL_A=2", "NCCL_A").data(), nullptr); }

}  // namespace
}  // namespace elbowroom::interposer
