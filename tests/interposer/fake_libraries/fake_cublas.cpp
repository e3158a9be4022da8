#include "fake_cublas_handle.hpp"
#include "fake_cublas_lt.hpp"
#include "interposer/cuda/cublas_functions.hpp"

// A stand-in for libcublas.so.13.

int cublasGemmEx(cublas::Handle handle, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int,
                 const void*, void*, int, int, int, int) {
  return launch_product(handle);
}

// Makes its product through cublasLt, as many of the real library's do, with an algorithm for the handle's target.
int cublasGemmStridedBatchedEx(cublas::Handle handle, int, int, int, int, int, const void*, const void*, int, int, long long,
                               const void*, int, int, long long, const void*, void*, int, int, long long, int, int, int) {
  elbowroom::interposer::cuda::cublas_lt::OpaqueMatmulDescriptor descriptor;
  const elbowroom::interposer::cuda::cublas_lt::OpaqueMatmulAlgorithm algorithm{
      handle->target == 0 ? kAllSms : static_cast<std::uint64_t>(handle->target), {}};
  return cublasLtMatmul(nullptr, &descriptor, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                        nullptr, &algorithm, nullptr, 0, handle->stream);
}
