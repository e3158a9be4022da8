#include "interposer/core/kernel_names.hpp"

#include <gtest/gtest.h>

namespace elbowroom::interposer {
namespace {

TEST(KernelNames, HashTellsNamesApart) {
  EXPECT_NE(name_hash("a"), name_hash("b"));
  EXPECT_EQ(name_hash("gemm"), name_hash("gemm"));
  // FNV-1a of no bytes is its offset basis.
  EXPECT_EQ(name_hash(""), 0xcbf29ce484222325U);
}

}  // namespace
}  // namespace elbowroom::interposer
