#include "model/library_kernels.hpp"

#include <gtest/gtest.h>

namespace elbowroom::detail {
namespace {

TEST(LibraryKernels, AreToldByTheirNames) {
  constexpr std::string_view ring = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
  constexpr std::string_view mangled = "_Z35ncclSymkDevKernel_AllGather_STMC_LL27ncclSymkDevWorkArgs4KStorage";
  constexpr std::string_view sum = "void cublasLt::splitKreduce_kernel<32, 16, int, float>(cublasLt::cublasSplitKParams<float>)";
  EXPECT_TRUE(is_of_comm_library(ring) && is_of_comm_library(mangled) && !is_of_comm_library(sum));
  EXPECT_TRUE(!is_on_symmetric_memory(ring) && is_on_symmetric_memory(mangled) &&
              is_on_symmetric_memory("all_reduce on symmetric memory"));
  EXPECT_TRUE(!is_split_k_sum(ring) && is_split_k_sum(sum));
}

}  // namespace
}  // namespace elbowroom::detail
