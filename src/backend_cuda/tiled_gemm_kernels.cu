#include "backend_cuda/compiled_kernels.hpp"
#include "backend_cuda/tiled_gemm_bf16.cuh"
#include "backend_cuda/tiled_gemm_f32.cuh"

namespace elbowroom::cuda {
namespace {

std::string name_of(const char* dtype, int tile_m, int tile_n, int tile_k) {
  return std::string("tiled_gemm_") + dtype + "_" + std::to_string(tile_m) + "x" + std::to_string(tile_n) + "x" +
         std::to_string(tile_k);
}

template <int TileM, int TileN, int TileK>
CompiledKernel f32() {
  return {name_of("f32", TileM, TileN, TileK), reinterpret_cast<const void*>(&tiled_gemm_f32<TileM, TileN, TileK>), Threads(256)};
}

template <int TileM, int TileN, int TileK, int Warps>
CompiledKernel bf16() {
  return {name_of("bf16", TileM, TileN, TileK), reinterpret_cast<const void*>(&tiled_gemm_bf16<TileM, TileN, TileK, Warps>),
          Threads(Warps * 32)};
}

}  // namespace

const std::vector<CompiledKernel>& tiled_gemm_kernels() {
  static const std::vector<CompiledKernel> kernels{
      f32<64, 64, 8>(),      f32<64, 64, 16>(),       f32<64, 64, 32>(),       f32<64, 64, 64>(),
      f32<128, 128, 8>(),    f32<128, 128, 16>(),     f32<128, 128, 32>(),     bf16<64, 64, 32, 4>(),
      bf16<64, 64, 64, 4>(), bf16<128, 128, 32, 8>(), bf16<128, 128, 64, 8>(),
  };
  return kernels;
}

}  // namespace elbowroom::cuda
