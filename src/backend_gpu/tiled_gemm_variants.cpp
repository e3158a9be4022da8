#include "backend_gpu/tiled_gemm_variants.hpp"

#include <fmt/format.h>

#include <array>

namespace elbowroom::gpu {
namespace {

constexpr DataType kF32 = DataType::f32;
constexpr DataType kBf16 = DataType::bf16;

// 64x64x32 and 64x64x64 are the source paper's opt1 and opt2. In f32, 128x128x64 would take more than the 64 KiB of LDS.
constexpr std::array kVariants{
    TiledGemmVariant{64, 64, 8, kF32},     TiledGemmVariant{64, 64, 16, kF32},    TiledGemmVariant{64, 64, 32, kF32},
    TiledGemmVariant{64, 64, 64, kF32},    TiledGemmVariant{128, 128, 8, kF32},   TiledGemmVariant{128, 128, 16, kF32},
    TiledGemmVariant{128, 128, 32, kF32},  TiledGemmVariant{64, 64, 32, kBf16},   TiledGemmVariant{64, 64, 64, kBf16},
    TiledGemmVariant{128, 128, 32, kBf16}, TiledGemmVariant{128, 128, 64, kBf16},
};

}  // namespace

std::string TiledGemmVariant::kernel() const {
  return fmt::format("tiled_gemm_{}_{}x{}x{}", to_string(dtype), tile_m, tile_n, tile_k);
}

std::span<const TiledGemmVariant> tiled_gemm_variants() { return kVariants; }

Result<TiledGemmVariant> find_tiled_gemm(const TiledGemm& gemm) {
  std::string known;
  for (const TiledGemmVariant& variant : kVariants) {
    if (variant.dtype != gemm.dtype) { continue; }
    if (variant.tile_m == gemm.tile_m && variant.tile_n == gemm.tile_n && variant.tile_k == gemm.tile_k) { return variant; }
    known += fmt::format("{}{}x{}x{}", known.empty() ? "" : ", ", variant.tile_m, variant.tile_n, variant.tile_k);
  }
  return invalid_input(fmt::format("compute.tile_m, tile_n, tile_k: {}x{}x{}, expected for {} one of {}", gemm.tile_m, gemm.tile_n,
                                   gemm.tile_k, to_string(gemm.dtype), known));
}

}  // namespace elbowroom::gpu
