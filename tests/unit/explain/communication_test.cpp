#include "explain/communication.hpp"

#include <gtest/gtest.h>

namespace elbowroom::explain {
namespace {

TEST(Communication, IsKnownByKernelNames) {
  for (const char* name : {
           "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
           "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)",
           "ncclSymkDevKernel_AllReduce_RSxLD_AGxST_sum_bf16(ncclSymkDevWorkArgs4K)",
           "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*, unsigned long, unsigned "
           "int**)",
           "void (anonymous namespace)::one_shot_all_reduce_kernel<float>(float**)",
           "void (anonymous namespace)::two_shot_all_reduce_kernel<float>(float**)",
           "nvshmemi_reduce_kernel",
           "void deep_ep::intranode::dispatch<8, 768>(int4*)",
           "void vllm::cross_device_reduce_2stage<__nv_bfloat16, 8>(vllm::RankData*)",
       }) {
    EXPECT_TRUE(is_communication_kernel(name)) << name;
  }
  for (const char* name : {"ampere_sgemm_128x64_nn", "void at::native::reduce_kernel<512, 1>(int)", "nvjet_tst_256x128_64x4_1x2"}) {
    EXPECT_FALSE(is_communication_kernel(name)) << name;
  }
}

TEST(Communication, IsNamedByTheContractsWords) {
  EXPECT_EQ(collective_in("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL"), "reduce_scatter");
  EXPECT_EQ(collective_in("_allgather_base"), "all_gather");
  EXPECT_EQ(collective_in("allreduce_coalesced"), "all_reduce");
  EXPECT_EQ(collective_in("nccl:all_to_all"), "all_to_all");
  EXPECT_EQ(collective_in("all_to_allv"), "all_to_all");
  EXPECT_EQ(collective_in("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t"), "send_recv");
  EXPECT_EQ(collective_in("ncclDevKernel_Generic"), std::nullopt);
}

TEST(Communication, CountsBytes) {
  EXPECT_EQ(element_bytes("BFloat16"), 2);
  EXPECT_EQ(element_bytes("c10::Half"), 2);
  EXPECT_EQ(element_bytes("float"), 4);
  EXPECT_EQ(element_bytes("long int"), 8);
  EXPECT_EQ(element_bytes("Float8_e4m3fn"), 1);
  EXPECT_EQ(element_bytes("Scalar"), std::nullopt);
}

TEST(KernelClass, IsAWord) {
  EXPECT_EQ(kernel_class("ampere_sgemm_128x64_nn"), "gemm");
  EXPECT_EQ(kernel_class("void flash_fwd_kernel<Flash_fwd_kernel_traits<128>>"), "attention");
  EXPECT_EQ(kernel_class("void at::native::vectorized_elementwise_kernel<4>"), "elementwise");
  EXPECT_EQ(kernel_class("mystery"), "other");
}

}  // namespace
}  // namespace elbowroom::explain
