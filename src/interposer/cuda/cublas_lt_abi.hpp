#pragma once

#include <cstdint>

/// What cublasLt.h says of the things that the hooks pass on or change.
namespace elbowroom::interposer::cuda::cublas_lt {
using Handle = struct OpaqueLightHandle*;
using Descriptor = struct OpaqueMatmulDescriptor*;
using Layout = struct OpaqueMatrixLayout*;
using Preference = struct OpaqueMatmulPreference*;
using Algorithm = struct OpaqueMatmulAlgorithm;
using HeuristicResult = struct OpaqueHeuristicResult;

inline constexpr int kSmCountTarget = 15;  // CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET
using SmCount = std::int32_t;              // 0: all of the device
// cublasLtMatrixLayoutAttribute_t, with what each is written as
inline constexpr int kLayoutType = 0;     // cudaDataType, std::uint32_t
inline constexpr int kLayoutRows = 2;     // std::uint64_t
inline constexpr int kLayoutColumns = 3;  // std::uint64_t
inline constexpr int kLayoutBatches = 5;  // std::int32_t
// cublasStatus_t
inline constexpr int kInvalidValue = 7;
inline constexpr int kArchMismatch = 8;
inline constexpr int kNotSupported = 15;
}  // namespace elbowroom::interposer::cuda::cublas_lt

namespace cublas_lt = elbowroom::interposer::cuda::cublas_lt;
