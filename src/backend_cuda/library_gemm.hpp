#pragma once

#include <cstdint>
#include <memory>

#include "backend_cuda/compute_kernel.hpp"
#include "backend_cuda/gemm_operands.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::cuda {

inline GemmExtents extents_of(const LibraryGemm& gemm) { return {gemm.m, gemm.n, gemm.k, gemm.dtype, gemm.dtype}; }

/// The product through cuBLAS, which chooses its own kernel: it honours an SM target and cannot be shaped.
/// `unavailable` without cuBLAS.
Result<std::unique_ptr<ComputeKernel>> make_library_gemm(const LibraryGemm& gemm, int sms, int gpus, std::uint64_t seed);

}  // namespace elbowroom::cuda
