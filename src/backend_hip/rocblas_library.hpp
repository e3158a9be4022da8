#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "backend/dynamic_library.hpp"
#include "backend_hip/hip_abi.hpp"
#include "elbowroom/base/result.hpp"

// rocBLAS's C interface as far as Elbowroom calls it. Source: rocblas-types.h and rocblas-functions.h of ROCm 5.0 to 7.0.
namespace elbowroom::hip {

using RocblasHandle = struct RocblasOpaque*;

inline constexpr int kRocblasNoTranspose = 111;
inline constexpr int kRocblasFloat32 = 151;
inline constexpr int kRocblasBfloat16 = 168;
inline constexpr int kRocblasGemmStandard = 0;

/// A loaded rocBLAS; `functions` are valid while this lives.
class RocblasLibrary {
 public:
  /// `generation` is that of the HIP runtime.
  static Result<RocblasLibrary> load(int generation);

  [[nodiscard]] Status check(int code, const char* call) const;

  struct Functions {
    int (*create_handle)(RocblasHandle* handle);
    int (*destroy_handle)(RocblasHandle handle);
    int (*set_stream)(RocblasHandle handle, HipStream stream);
    const char* (*status_to_string)(int code);
    int (*gemm_ex)(RocblasHandle handle, int transpose_a, int transpose_b, std::int32_t m, std::int32_t n, std::int32_t k,
                   const void* alpha, const void* a, int type_a, std::int32_t lda, const void* b, int type_b, std::int32_t ldb,
                   const void* beta, const void* c, int type_c, std::int32_t ldc, void* d, int type_d, std::int32_t ldd,
                   int compute_type, int algorithm, std::int32_t solution, std::uint32_t flags);
  };
  Functions functions{};

 private:
  explicit RocblasLibrary(elbowroom::detail::DynamicLibrary library) : library_(std::move(library)) {}

  elbowroom::detail::DynamicLibrary library_;
};

}  // namespace elbowroom::hip
