#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backend_gpu/compute_kernel.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::gpu {

/// The product through the vendor's BLAS, which chooses its own kernel: it cannot be shaped. It honours an SM target itself, or by
/// the SM partition of the stream it runs on. `unavailable` without the library.
Result<std::unique_ptr<ComputeKernel>> make_library_gemm(Platform& platform, const LibraryGemm& gemm,
                                                         const std::vector<int>& devices, std::uint64_t seed);

}  // namespace elbowroom::gpu
