#include <string>

#include "backend_cuda/tiled_gemm_bf16.cuh"
#include "backend_cuda/tiled_gemm_f32.cuh"
#include "backend_cuda/tiled_gemm_kernels.hpp"

namespace elbowroom::cuda {
namespace {

template <int TileM, int TileN, int TileK>
TiledGemmVariant f32() {
  return {TileM, TileN, TileK, DataType::f32, Threads(256), reinterpret_cast<const void*>(&tiled_gemm_f32<TileM, TileN, TileK>)};
}

template <int TileM, int TileN, int TileK, int Warps>
TiledGemmVariant bf16() {
  return {TileM,
          TileN,
          TileK,
          DataType::bf16,
          Threads(Warps * 32),
          reinterpret_cast<const void*>(&tiled_gemm_bf16<TileM, TileN, TileK, Warps>)};
}

}  // namespace

const std::vector<TiledGemmVariant>& tiled_gemm_variants() {
  // 64x64x32 and 64x64x64 are the source paper's opt1 and opt2. Static shared memory ends at 48 KiB.
  static const std::vector<TiledGemmVariant> variants{
      f32<64, 64, 8>(),      f32<64, 64, 16>(),       f32<64, 64, 32>(),       f32<64, 64, 64>(),
      f32<128, 128, 8>(),    f32<128, 128, 16>(),     f32<128, 128, 32>(),     bf16<64, 64, 32, 4>(),
      bf16<64, 64, 64, 4>(), bf16<128, 128, 32, 8>(), bf16<128, 128, 64, 8>(),
  };
  return variants;
}

Result<TiledGemmVariant> find_tiled_gemm(const TiledGemm& gemm) {
  std::string known;
  for (const TiledGemmVariant& variant : tiled_gemm_variants()) {
    if (variant.dtype != gemm.dtype) continue;
    if (variant.tile_m == gemm.tile_m && variant.tile_n == gemm.tile_n && variant.tile_k == gemm.tile_k) return variant;
    known += (known.empty() ? "" : ", ") + std::to_string(variant.tile_m) + "x" + std::to_string(variant.tile_n) + "x" +
             std::to_string(variant.tile_k);
  }
  return invalid_input("compute.tile_m, tile_n, tile_k: " + std::to_string(gemm.tile_m) + "x" + std::to_string(gemm.tile_n) + "x" +
                       std::to_string(gemm.tile_k) + ", expected for " + std::string(to_string(gemm.dtype)) + " one of " + known);
}

}  // namespace elbowroom::cuda
