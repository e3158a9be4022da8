#include "fake_cublas_handle.hpp"

#include "fake_cuda.hpp"
#include "interposer/cuda/hooked_functions.hpp"

int launch_product(cublas::Handle handle) {
  static const cu::Function kernel = fake_function("nvjet_sm90_gemm", 168, 0);
  const unsigned blocks = handle->target == 0 ? 132 : static_cast<unsigned>(handle->target);
  return cuLaunchKernel(kernel, blocks, 1, 1, 384, 1, 1, 0, handle->stream, nullptr, nullptr);
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
