#pragma once

#include "interposer/cuda/driver_abi.hpp"

/// The cuBLAS products that are hooked, as cublas_api.h declares them. Handle, sizes and the type of the factors mean something
/// here.
namespace elbowroom::interposer::cuda::cublas {
using Handle = struct OpaqueHandle*;
using Operation = int;    // cublasOperation_t
using Type = int;         // cudaDataType, see product_type.hpp
using ComputeType = int;  // cublasComputeType_t
using Algorithm = int;    // cublasGemmAlgo_t
}  // namespace elbowroom::interposer::cuda::cublas

namespace cublas = elbowroom::interposer::cuda::cublas;

#pragma GCC visibility push(default)
extern "C" {
int cublasGemmEx(cublas::Handle handle, cublas::Operation trans_a, cublas::Operation trans_b, int m, int n, int k,
                 const void* alpha, const void* a, cublas::Type type_a, int lda, const void* b, cublas::Type type_b, int ldb,
                 const void* beta, void* c, cublas::Type type_c, int ldc, cublas::ComputeType compute, cublas::Algorithm algorithm);
int cublasGemmStridedBatchedEx(cublas::Handle handle, cublas::Operation trans_a, cublas::Operation trans_b, int m, int n, int k,
                               const void* alpha, const void* a, cublas::Type type_a, int lda, long long stride_a, const void* b,
                               cublas::Type type_b, int ldb, long long stride_b, const void* beta, void* c, cublas::Type type_c,
                               int ldc, long long stride_c, int batches, cublas::ComputeType compute, cublas::Algorithm algorithm);
int cublasSgemm_v2(cublas::Handle handle, cublas::Operation trans_a, cublas::Operation trans_b, int m, int n, int k,
                   const float* alpha, const float* a, int lda, const float* b, int ldb, const float* beta, float* c, int ldc);
int cublasSgemmStridedBatched(cublas::Handle handle, cublas::Operation trans_a, cublas::Operation trans_b, int m, int n, int k,
                              const float* alpha, const float* a, int lda, long long stride_a, const float* b, int ldb,
                              long long stride_b, const float* beta, float* c, int ldc, long long stride_c, int batches);
}  // extern "C"
#pragma GCC visibility pop
