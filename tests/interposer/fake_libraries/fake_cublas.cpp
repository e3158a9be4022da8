#include "fake_cublas_handle.hpp"
#include "interposer/cuda/cublas_functions.hpp"

// A stand-in for libcublas.so.13.

int cublasGemmEx(cublas::Handle handle, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int,
                 const void*, void*, int, int, int, int) {
  return launch_product(handle);
}
