#include "echo.hpp"
#include "fake_cublas_handle.hpp"
#include "interposer/cuda/cublas_functions.hpp"

// cuBLAS with every product that is hooked. It keeps what a call is given.

namespace {

Echo echoed;

template <class... Arguments>
int product(cublas::Handle handle, Arguments... arguments) {
  echoed.keep(handle, arguments...);
  return launch_product(handle);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {
bool echo_cublas_counts(std::size_t arguments, const std::uint64_t* own) { return echoed.counts(arguments, own); }
}
#pragma GCC visibility pop

int cublasGemmEx(cublas::Handle handle, cublas::Operation trans_a, cublas::Operation trans_b, int m, int n, int k,
                 const void* alpha, const void* a, cublas::Type type_a, int lda, const void* b, cublas::Type type_b, int ldb,
                 const void* beta, void* c, cublas::Type type_c, int ldc, cublas::ComputeType compute,
                 cublas::Algorithm algorithm) {
  return product(handle, trans_a, trans_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc, compute,
                 algorithm);
}
int cublasGemmStridedBatchedEx(cublas::Handle handle, cublas::Operation trans_a, cublas::Operation trans_b, int m, int n, int k,
                               const void* alpha, const void* a, cublas::Type type_a, int lda, long long stride_a, const void* b,
                               cublas::Type type_b, int ldb, long long stride_b, const void* beta, void* c, cublas::Type type_c,
                               int ldc, long long stride_c, int batches, cublas::ComputeType compute, cublas::Algorithm algorithm) {
  return product(handle, trans_a, trans_b, m, n, k, alpha, a, type_a, lda, stride_a, b, type_b, ldb, stride_b, beta, c, type_c, ldc,
                 stride_c, batches, compute, algorithm);
}
int cublasSgemm_v2(cublas::Handle handle, cublas::Operation trans_a, cublas::Operation trans_b, int m, int n, int k,
                   const float* alpha, const float* a, int lda, const float* b, int ldb, const float* beta, float* c, int ldc) {
  return product(handle, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
int cublasSgemmStridedBatched(cublas::Handle handle, cublas::Operation trans_a, cublas::Operation trans_b, int m, int n, int k,
                              const float* alpha, const float* a, int lda, long long stride_a, const float* b, int ldb,
                              long long stride_b, const float* beta, float* c, int ldc, long long stride_c, int batches) {
  return product(handle, trans_a, trans_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, batches);
}
