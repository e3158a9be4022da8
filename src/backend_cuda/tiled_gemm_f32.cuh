#pragma once

#include <cstdint>

namespace elbowroom::cuda {

/// Plain f32 GEMM on the FMA units: 256 threads, each TileM*TileN/256 results. Nothing is prefetched: as in the textbook kernel,
/// the other resident blocks hide the loads, so residency matters. The register budget keeps three small or two large blocks.
template <int TileM, int TileN, int TileK>
__global__ void __launch_bounds__(256, TileM* TileN <= 64 * 64 ? 3 : 2)
    tiled_gemm_f32(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k) {
  constexpr int kThreads = 256;
  constexpr int kThreadsX = 16;
  constexpr int kRows = TileM / (kThreads / kThreadsX);
  constexpr int kColumns = TileN / kThreadsX;
  static_assert(kRows % 4 == 0 && kColumns % 4 == 0 && TileK % 4 == 0);
  // A is kept transposed, so that a thread's rows are adjacent; 4 columns of slack spread the transposed stores over banks.
  __shared__ __align__(16) float tile_a[TileK][TileM + 4];
  __shared__ __align__(16) float tile_b[TileK][TileN];

  const int thread = static_cast<int>(threadIdx.x);
  const int row = (thread / kThreadsX) * 4;
  const int column = (thread % kThreadsX) * 4;
  constexpr int kRowStride = (kThreads / kThreadsX) * 4;
  constexpr int kColumnStride = kThreadsX * 4;

  for (int tile_y = static_cast<int>(blockIdx.y); tile_y < m / TileM; tile_y += static_cast<int>(gridDim.y)) {
    for (int tile_x = static_cast<int>(blockIdx.x); tile_x < n / TileN; tile_x += static_cast<int>(gridDim.x)) {
      const float* from_a = a + static_cast<std::int64_t>(tile_y) * TileM * k;
      const float* from_b = b + static_cast<std::int64_t>(tile_x) * TileN;
      float sum[kRows][kColumns] = {};
      for (int step = 0; step < k; step += TileK) {
        __syncthreads();
        for (int vector = thread; vector < TileM * TileK / 4; vector += kThreads) {
          const int r = vector / (TileK / 4), q = vector % (TileK / 4) * 4;
          const float4 four = *reinterpret_cast<const float4*>(from_a + static_cast<std::int64_t>(r) * k + step + q);
          tile_a[q + 0][r] = four.x;
          tile_a[q + 1][r] = four.y;
          tile_a[q + 2][r] = four.z;
          tile_a[q + 3][r] = four.w;
        }
        for (int vector = thread; vector < TileK * TileN / 4; vector += kThreads) {
          const int r = vector / (TileN / 4), q = vector % (TileN / 4) * 4;
          *reinterpret_cast<float4*>(&tile_b[r][q]) =
              *reinterpret_cast<const float4*>(from_b + static_cast<std::int64_t>(step + r) * n + q);
        }
        __syncthreads();
#pragma unroll
        for (int q = 0; q < TileK; ++q) {
          float left[kRows], right[kColumns];
#pragma unroll
          for (int i = 0; i < kRows; i += 4) {
            *reinterpret_cast<float4*>(&left[i]) = *reinterpret_cast<const float4*>(&tile_a[q][row + i / 4 * kRowStride]);
          }
#pragma unroll
          for (int j = 0; j < kColumns; j += 4) {
            *reinterpret_cast<float4*>(&right[j]) = *reinterpret_cast<const float4*>(&tile_b[q][column + j / 4 * kColumnStride]);
          }
#pragma unroll
          for (int i = 0; i < kRows; ++i) {
#pragma unroll
            for (int j = 0; j < kColumns; ++j) { sum[i][j] = fmaf(left[i], right[j], sum[i][j]); }
          }
        }
      }

#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        const int to_row = tile_y * TileM + row + i / 4 * kRowStride + i % 4;
#pragma unroll
        for (int j = 0; j < kColumns; j += 4) {
          float* to = c + static_cast<std::int64_t>(to_row) * n + tile_x * TileN + column + j / 4 * kColumnStride;
          *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(&sum[i][j]);
        }
      }
    }
  }
}

}  // namespace elbowroom::cuda
