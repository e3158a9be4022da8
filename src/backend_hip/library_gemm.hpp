#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backend_hip/compute_kernel.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::hip {

/// The product through rocBLAS, which chooses its own kernel: it cannot be shaped, and honours an SM target through the CU mask of
/// the stream it runs on. `unavailable` without rocBLAS.
Result<std::unique_ptr<ComputeKernel>> make_library_gemm(DeviceCode& code, const LibraryGemm& gemm,
                                                         const std::vector<DeviceInfo>& devices, int gpus, std::uint64_t seed);

}  // namespace elbowroom::hip
