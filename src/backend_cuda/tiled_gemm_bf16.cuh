#pragma once

#include <cuda_bf16.h>
#include <mma.h>

#include <cstdint>

namespace elbowroom::cuda {

/// bf16 GEMM on the tensor cores with f32 sums: one warp for each 32 x 32 (64-wide tiles) or 32 x 64 (128-wide) part of the tile.
/// Nothing is prefetched: the other resident blocks hide the loads. The register budget keeps five small or two large blocks.
template <int TileM, int TileN, int TileK, int Warps>
__global__ void __launch_bounds__(Warps * 32, TileM* TileN <= 64 * 64 ? 5 : 2)
    tiled_gemm_bf16(const __nv_bfloat16* __restrict__ a, const __nv_bfloat16* __restrict__ b, float* __restrict__ c, int m, int n,
                    int k) {
  namespace wmma = nvcuda::wmma;
  constexpr int kThreads = Warps * 32;
  constexpr int kVector = 8;  // bf16 in 16 bytes
  constexpr int kWarpsX = 2;
  constexpr int kWarpRows = TileM / (Warps / kWarpsX);
  constexpr int kWarpColumns = TileN / kWarpsX;
  static_assert(kWarpRows % 16 == 0 && kWarpColumns % 16 == 0 && TileK % 16 == 0);
  // 8 columns of slack put the rows of a fragment into different banks.
  __shared__ __align__(32) __nv_bfloat16 tile_a[TileM][TileK + 8];
  __shared__ __align__(32) __nv_bfloat16 tile_b[TileK][TileN + 8];

  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32;
  const int row = warp / kWarpsX * kWarpRows;
  const int column = warp % kWarpsX * kWarpColumns;

  for (int tile_y = static_cast<int>(blockIdx.y); tile_y < m / TileM; tile_y += static_cast<int>(gridDim.y)) {
    for (int tile_x = static_cast<int>(blockIdx.x); tile_x < n / TileN; tile_x += static_cast<int>(gridDim.x)) {
      const __nv_bfloat16* from_a = a + static_cast<std::int64_t>(tile_y) * TileM * k;
      const __nv_bfloat16* from_b = b + static_cast<std::int64_t>(tile_x) * TileN;
      wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[kWarpRows / 16][kWarpColumns / 16];
#pragma unroll
      for (auto& line : sum) {
#pragma unroll
        for (auto& part : line) { wmma::fill_fragment(part, 0.0f); }
      }
      for (int step = 0; step < k; step += TileK) {
        __syncthreads();
        for (int vector = thread; vector < TileM * TileK / kVector; vector += kThreads) {
          const int r = vector / (TileK / kVector), q = vector % (TileK / kVector) * kVector;
          *reinterpret_cast<uint4*>(&tile_a[r][q]) =
              *reinterpret_cast<const uint4*>(from_a + static_cast<std::int64_t>(r) * k + step + q);
        }
        for (int vector = thread; vector < TileK * TileN / kVector; vector += kThreads) {
          const int r = vector / (TileN / kVector), q = vector % (TileN / kVector) * kVector;
          *reinterpret_cast<uint4*>(&tile_b[r][q]) =
              *reinterpret_cast<const uint4*>(from_b + static_cast<std::int64_t>(step + r) * n + q);
        }
        __syncthreads();
#pragma unroll
        for (int q = 0; q < TileK; q += 16) {
          wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> left[kWarpRows / 16];
          wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> right[kWarpColumns / 16];
#pragma unroll
          for (int i = 0; i < kWarpRows / 16; ++i) { wmma::load_matrix_sync(left[i], &tile_a[row + i * 16][q], TileK + 8); }
#pragma unroll
          for (int j = 0; j < kWarpColumns / 16; ++j) { wmma::load_matrix_sync(right[j], &tile_b[q][column + j * 16], TileN + 8); }
#pragma unroll
          for (int i = 0; i < kWarpRows / 16; ++i) {
#pragma unroll
            for (int j = 0; j < kWarpColumns / 16; ++j) { wmma::mma_sync(sum[i][j], left[i], right[j], sum[i][j]); }
          }
        }
      }

#pragma unroll
      for (int i = 0; i < kWarpRows / 16; ++i) {
#pragma unroll
        for (int j = 0; j < kWarpColumns / 16; ++j) {
          float* to = c + static_cast<std::int64_t>(tile_y * TileM + row + i * 16) * n + tile_x * TileN + column + j * 16;
          wmma::store_matrix_sync(to, sum[i][j], static_cast<unsigned>(n), wmma::mem_row_major);
        }
      }
    }
  }
}

}  // namespace elbowroom::cuda
