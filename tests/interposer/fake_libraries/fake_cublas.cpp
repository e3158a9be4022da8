#include "fake_cublas_lt.hpp"
#include "fake_cuda.hpp"
#include "interposer/cuda/cublas_functions.hpp"
#include "interposer/cuda/hooked_functions.hpp"

// A stand-in for libcublas.so.13: a product launches as many blocks as its SM target says, 132 without one.

namespace elbowroom::interposer::cuda::cublas {
struct OpaqueHandle {
  cu::Stream stream;
  int target;
};
}  // namespace elbowroom::interposer::cuda::cublas

int cublasGemmEx(cublas::Handle handle, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int,
                 const void*, void*, int, int, int, int) {
  static const cu::Function kernel = fake_function("nvjet_sm90_gemm", 168, 0);
  const unsigned blocks = handle->target == 0 ? 132 : static_cast<unsigned>(handle->target);
  return cuLaunchKernel(kernel, blocks, 1, 1, 384, 1, 1, 0, handle->stream, nullptr, nullptr);
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

#pragma GCC visibility push(default)
extern "C" {
cublas::Handle fake_cublas_handle(cu::Stream stream) { return new elbowroom::interposer::cuda::cublas::OpaqueHandle{stream, 0}; }
int cublasGetStream_v2(cublas::Handle handle, cu::Stream* stream) {
  *stream = handle->stream;
  return 0;
}
int cublasGetSmCountTarget(cublas::Handle handle, int* target) {
  *target = handle->target;
  return 0;
}
int cublasSetSmCountTarget(cublas::Handle handle, int target) {
  handle->target = target;
  return 0;
}
}
#pragma GCC visibility pop
