#pragma once

#include <memory>

#include "backend_gpu/blas_library.hpp"
#include "elbowroom/base/result.hpp"

// cuBLAS's C interface as far as Elbowroom calls it, declared by us because the library is found at run time. Source: cublas_api.h
// of CUDA 12 and 13; a test compares the constants with the toolkit's own header.
namespace elbowroom::cuda {

inline constexpr int kCublasNoTranspose = 0;
inline constexpr int kCublasCompute32F = 68;
inline constexpr int kCublasGemmDefault = -1;

/// Turns a return code into a Status that names the call.
Status check_cublas(int code, const char* call);

/// `unavailable` names the files that were tried.
Result<std::unique_ptr<gpu::BlasLibrary>> load_cublas();

}  // namespace elbowroom::cuda
