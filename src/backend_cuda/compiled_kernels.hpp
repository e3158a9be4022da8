#pragma once

#include <string>
#include <vector>

#include "elbowroom/base/quantities.hpp"

namespace elbowroom::cuda {

/// A kernel of this project as the compiler left it in the program.
struct CompiledKernel {
  std::string name;  ///< "tiled_gemm_f32_64x64x32"
  const void* symbol = nullptr;
  Threads threads;  ///< of a block
};

/// 64x64x32 and 64x64x64 are the source paper's opt1 and opt2. Static shared memory ends at 48 KiB. Arguments as
/// gpu::TiledGemmVariant says.
const std::vector<CompiledKernel>& tiled_gemm_kernels();

/// "elementwise_gelu_f32": one thread reads and writes 16 bytes. They take (const void* in, void* out, int64 vectors of 16 bytes).
const std::vector<CompiledKernel>& elementwise_kernels();

/// Input data and reference checks: "fill_uniform_f32". What they take stands in backend_gpu/kernels/data_kernels.inc.
const std::vector<CompiledKernel>& data_kernels();

}  // namespace elbowroom::cuda
