#pragma once

#include "interposer/cuda/cublas_lt_functions.hpp"

/// What the stand-in for libcublasLt.so.13 keeps, for the tests to read.
namespace elbowroom::interposer::cuda::cublas_lt {
struct OpaqueMatmulDescriptor {
  std::int32_t target = 0;
  int writes = 0;              ///< of the target
  int status = 0;              ///< of its products, which launch nothing unless it is 0
  bool needs_match = false;    ///< products refuse an algorithm that was chosen for another target
  bool no_algorithm = false;   ///< the heuristic finds none for a target
  void (*during)() = nullptr;  ///< called inside its next product
};
struct OpaqueMatrixLayout {
  std::uint32_t type;  ///< cudaDataType
  std::uint64_t rows, columns;
  std::int32_t batches;
};
struct OpaqueMatmulAlgorithm {
  std::uint64_t sms;
  std::uint64_t rest[7];
};
struct OpaqueHeuristicResult {
  OpaqueMatmulAlgorithm algorithm;
  std::size_t workspace;
  int state;
  float waves;
  int reserved[4];
};
}  // namespace elbowroom::interposer::cuda::cublas_lt

inline constexpr std::uint64_t kAllSms = 132;
