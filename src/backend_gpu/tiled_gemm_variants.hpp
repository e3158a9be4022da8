#pragma once

#include <span>
#include <string>

#include "elbowroom/base/result.hpp"
#include "elbowroom/model/scenario.hpp"

namespace elbowroom::gpu {

/// A tile configuration that the kernels' text has. The kernel takes (const T* a, const T* b, float* c, int m, int n, int k), and
/// runs in blocks of 256 threads. It loops over tiles with the grid's strides in x (n) and y (m). It uses static shared memory
/// only, so that added dynamic memory is pure padding.
struct TiledGemmVariant {
  std::int64_t tile_m = 0, tile_n = 0, tile_k = 0;
  DataType dtype = DataType::f32;

  /// "tiled_gemm_f32_64x64x32"
  [[nodiscard]] std::string kernel() const;
};

/// The variant for the scenario's tile and type; otherwise `invalid_input` lists the tiles that exist for the type.
Result<TiledGemmVariant> find_tiled_gemm(const TiledGemm& gemm);

/// All variants, for tests.
std::span<const TiledGemmVariant> tiled_gemm_variants();

}  // namespace elbowroom::gpu
