#pragma once

#include "interposer/cuda/cublas_functions.hpp"

/// What stand-ins for libcublas.so.13 know of a handle.
namespace elbowroom::interposer::cuda::cublas {
struct OpaqueHandle {
  cu::Stream stream;
  int target;
};
}  // namespace elbowroom::interposer::cuda::cublas

/// Launches a product's kernel of as many blocks as the handle's SM target says, 132 without one.
int launch_product(cublas::Handle handle);
