#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backend_gpu/compute_kernel.hpp"

namespace elbowroom::gpu {

/// The kernel of a user's module. Its results are compared, bit by bit, with those of as many launches with nothing beside them:
/// what depends on the order of blocks belongs into buffers that are not compared.
Result<std::unique_ptr<ComputeKernel>> make_module_kernel(Platform& platform, const ModuleKernel& what,
                                                          const std::vector<int>& devices, std::uint64_t seed);

}  // namespace elbowroom::gpu
