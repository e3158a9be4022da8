// What Elbowroom declares of NCCL and cuBLAS itself, held against the toolkit's headers where they are. Needs no GPU.
#include <gtest/gtest.h>

#include <cstddef>

#include "backend_cuda/cublas_library.hpp"
#include "backend_cuda/nccl_library.hpp"

#if __has_include(<nccl.h>)
#include <nccl.h>
#endif
#if __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
#endif

namespace elbowroom {
namespace {

#if __has_include(<nccl.h>)
TEST(ApiDeclarations, NcclConfigIsAPrefixOfTheLibrarys) {
  EXPECT_EQ(offsetof(ncclConfig_t, size), offsetof(cuda::NcclConfig, size));
  EXPECT_EQ(offsetof(ncclConfig_t, magic), offsetof(cuda::NcclConfig, magic));
  EXPECT_EQ(offsetof(ncclConfig_t, version), offsetof(cuda::NcclConfig, version));
  EXPECT_EQ(offsetof(ncclConfig_t, blocking), offsetof(cuda::NcclConfig, blocking));
  EXPECT_EQ(offsetof(ncclConfig_t, cgaClusterSize), offsetof(cuda::NcclConfig, cga_cluster_size));
  EXPECT_EQ(offsetof(ncclConfig_t, minCTAs), offsetof(cuda::NcclConfig, min_ctas));
  EXPECT_EQ(offsetof(ncclConfig_t, maxCTAs), offsetof(cuda::NcclConfig, max_ctas));
  EXPECT_EQ(offsetof(ncclConfig_t, netName), offsetof(cuda::NcclConfig, net_name));
  EXPECT_EQ(offsetof(ncclConfig_t, splitShare), offsetof(cuda::NcclConfig, split_share));
  EXPECT_EQ(offsetof(cuda::NcclConfig, traffic_class) + 4, cuda::NcclConfig().size);  // the layout of 2.18 ended in padding there
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
  EXPECT_EQ(offsetof(ncclConfig_t, trafficClass), offsetof(cuda::NcclConfig, traffic_class));
  EXPECT_EQ(offsetof(ncclConfig_t, commName), offsetof(cuda::NcclConfig, name));
  EXPECT_EQ(offsetof(ncclConfig_t, CTAPolicy), offsetof(cuda::NcclConfig, cta_policy));
  EXPECT_EQ(offsetof(ncclConfig_t, nvlinkCentricSched), offsetof(cuda::NcclConfig, nvlink_centric_sched));
  EXPECT_EQ(sizeof(ncclConfig_t), sizeof(cuda::NcclConfig));
  EXPECT_EQ(NCCL_WIN_COLL_SYMMETRIC, cuda::kNcclWindowSymmetric);
  cuda::NcclConfig zero;
  zero.use_copy_engines();
  EXPECT_EQ(NCCL_CTA_POLICY_ZERO, zero.cta_policy);
#endif
  const ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;
  EXPECT_EQ(theirs.magic, cuda::NcclConfig().magic);
  EXPECT_EQ(NCCL_CONFIG_UNDEF_INT, cuda::NcclConfig::kUndefined);
  EXPECT_GE(theirs.version, cuda::NcclConfig().version);
}

TEST(ApiDeclarations, NcclConstantsAndIdentifier) {
  EXPECT_EQ(sizeof(ncclUniqueId), sizeof(cuda::NcclUniqueId));
  EXPECT_EQ(ncclSuccess, cuda::kNcclSuccess);
  EXPECT_EQ(ncclInProgress, cuda::kNcclInProgress);
  EXPECT_EQ(ncclSum, cuda::kNcclSum);
  EXPECT_EQ(ncclFloat32, cuda::kNcclFloat32);
  EXPECT_EQ(ncclBfloat16, cuda::kNcclBfloat16);
}
#else
TEST(ApiDeclarations, Nccl) { GTEST_SKIP() << "no nccl.h"; }
#endif

#if __has_include(<cublas_v2.h>)
TEST(ApiDeclarations, CublasConstants) {
  EXPECT_EQ(CUBLAS_OP_N, cuda::kCublasNoTranspose);
  EXPECT_EQ(CUBLAS_COMPUTE_32F, cuda::kCublasCompute32F);
  EXPECT_EQ(CUBLAS_GEMM_DEFAULT, cuda::kCublasGemmDefault);
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, 0);
}
#else
TEST(ApiDeclarations, Cublas) { GTEST_SKIP() << "no cublas_v2.h"; }
#endif

}  // namespace
}  // namespace elbowroom
