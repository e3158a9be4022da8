#pragma once

#include <cuda_runtime_api.h>
#include <library_types.h>

#include <cstddef>
#include <string>

#include "backend/dynamic_library.hpp"
#include "elbowroom/base/result.hpp"

// cuBLAS's C interface as far as Elbowroom calls it, declared here because the library is found at run time. Source: cublas_api.h
// of CUDA 12 and 13; a test compares the constants with the toolkit's own header.
namespace elbowroom::cuda {

using CublasHandle = struct CublasOpaque*;

inline constexpr int kCublasNoTranspose = 0;
inline constexpr int kCublasCompute32F = 68;
inline constexpr int kCublasGemmDefault = -1;

/// A loaded cuBLAS; `functions` are valid while this lives.
class CublasLibrary {
 public:
  static Result<CublasLibrary> load();

  [[nodiscard]] static Status check(int code, const char* call);

  struct Functions {
    int (*create)(CublasHandle* handle);
    int (*destroy)(CublasHandle handle);
    int (*set_stream)(CublasHandle handle, cudaStream_t stream);
    int (*set_workspace)(CublasHandle handle, void* workspace, std::size_t bytes);
    int (*set_sm_count_target)(CublasHandle handle, int sms);
    int (*gemm_ex)(CublasHandle handle, int transpose_a, int transpose_b, int m, int n, int k, const void* alpha, const void* a,
                   cudaDataType type_a, int lda, const void* b, cudaDataType type_b, int ldb, const void* beta, void* c,
                   cudaDataType type_c, int ldc, int compute_type, int algorithm);
  };
  Functions functions{};

 private:
  explicit CublasLibrary(elbowroom::detail::DynamicLibrary library) : opened_(std::move(library)) {}

  elbowroom::detail::DynamicLibrary opened_;
};

}  // namespace elbowroom::cuda
