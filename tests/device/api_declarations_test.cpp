// What Elbowroom declares of NCCL and cuBLAS itself, held against the toolkit's headers where they are. Needs no GPU.
#include <gtest/gtest.h>

#include <cstddef>

#include "backend_cuda/cublas_library.hpp"
#include "backend_cuda/cublaslt_products.hpp"
#include "backend_gpu/comm_library.hpp"

#if __has_include(<nccl.h>)
#include <nccl.h>
#endif
#if __has_include(<cublas_v2.h>)
#include <cublasLt.h>
#include <cublas_v2.h>
#endif

namespace elbowroom {
namespace {

#if __has_include(<nccl.h>)
TEST(ApiDeclarations, NcclConfigIsAPrefixOfTheLibrarys) {
  EXPECT_EQ(offsetof(ncclConfig_t, size), offsetof(gpu::CommConfig, size));
  EXPECT_EQ(offsetof(ncclConfig_t, magic), offsetof(gpu::CommConfig, magic));
  EXPECT_EQ(offsetof(ncclConfig_t, version), offsetof(gpu::CommConfig, version));
  EXPECT_EQ(offsetof(ncclConfig_t, blocking), offsetof(gpu::CommConfig, blocking));
  EXPECT_EQ(offsetof(ncclConfig_t, cgaClusterSize), offsetof(gpu::CommConfig, cga_cluster_size));
  EXPECT_EQ(offsetof(ncclConfig_t, minCTAs), offsetof(gpu::CommConfig, min_ctas));
  EXPECT_EQ(offsetof(ncclConfig_t, maxCTAs), offsetof(gpu::CommConfig, max_ctas));
  EXPECT_EQ(offsetof(ncclConfig_t, netName), offsetof(gpu::CommConfig, net_name));
  EXPECT_EQ(offsetof(ncclConfig_t, splitShare), offsetof(gpu::CommConfig, split_share));
  EXPECT_EQ(offsetof(gpu::CommConfig, traffic_class) + 4, gpu::CommConfig().size);  // the layout of 2.18 ended in padding there
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
  EXPECT_EQ(offsetof(ncclConfig_t, trafficClass), offsetof(gpu::CommConfig, traffic_class));
  EXPECT_EQ(offsetof(ncclConfig_t, commName), offsetof(gpu::CommConfig, name));
  EXPECT_EQ(offsetof(ncclConfig_t, CTAPolicy), offsetof(gpu::CommConfig, cta_policy));
  EXPECT_EQ(offsetof(ncclConfig_t, nvlinkCentricSched), offsetof(gpu::CommConfig, nvlink_centric_sched));
  EXPECT_EQ(sizeof(ncclConfig_t), sizeof(gpu::CommConfig));
  EXPECT_EQ(NCCL_WIN_COLL_SYMMETRIC, gpu::kWindowSymmetric);
  gpu::CommConfig zero;
  zero.use_copy_engines();
  EXPECT_EQ(NCCL_CTA_POLICY_ZERO, zero.cta_policy);
#endif
  const ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;
  EXPECT_EQ(theirs.magic, gpu::CommConfig().magic);
  EXPECT_EQ(NCCL_CONFIG_UNDEF_INT, gpu::CommConfig::kUndefined);
  EXPECT_GE(theirs.version, gpu::CommConfig().version);
}

TEST(ApiDeclarations, NcclConstantsAndIdentifier) {
  EXPECT_EQ(sizeof(ncclUniqueId), sizeof(gpu::UniqueId));
  EXPECT_EQ(ncclSuccess, gpu::kCommSuccess);
  EXPECT_EQ(ncclInProgress, gpu::kCommInProgress);
  EXPECT_EQ(ncclSum, gpu::kCommSum);
  EXPECT_EQ(ncclFloat32, gpu::kCommFloat32);
  EXPECT_EQ(ncclBfloat16, gpu::kCommBfloat16);
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
  EXPECT_EQ(CUBLAS_STATUS_NOT_SUPPORTED, cuda::kCublasNotSupported);
}

TEST(ApiDeclarations, CublasLtConstantsAndResult) {
  EXPECT_EQ(CUBLAS_OP_T, cuda::kCublasTranspose);
  EXPECT_EQ(CUBLASLT_MATMUL_DESC_TRANSA, cuda::kLtTransposeA);
  EXPECT_EQ(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, cuda::kLtSmCountTarget);
  EXPECT_EQ(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, cuda::kLtMaxWorkspaceBytes);
  EXPECT_EQ(sizeof(cublasLtMatmulAlgo_t), sizeof(cuda::LtAlgorithm));
  EXPECT_EQ(sizeof(cublasLtMatmulHeuristicResult_t), sizeof(cuda::LtHeuristicResult));
  EXPECT_EQ(offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize), offsetof(cuda::LtHeuristicResult, workspace_bytes));
  EXPECT_EQ(offsetof(cublasLtMatmulHeuristicResult_t, state), offsetof(cuda::LtHeuristicResult, state));
}
#else
TEST(ApiDeclarations, Cublas) { GTEST_SKIP() << "no cublas_v2.h"; }
#endif

}  // namespace
}  // namespace elbowroom
