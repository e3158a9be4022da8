/// Plain f32 GEMM on the FMA units: 256 threads, each TileM*TileN/256 results. Nothing is prefetched: as in the textbook kernel,
/// the other resident blocks hide the loads, so residency matters. A tile configuration takes exactly its tiles' LDS: a row of A,
/// kept transposed so that a thread's rows are adjacent, is permuted in groups of four instead of padded to spread it over banks.
template <int TileM, int TileN, int TileK>
__device__ inline void tiled_gemm_f32(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n,
                                      int k) {
  constexpr int kThreads = 256;
  constexpr int kThreadsX = 16;
  constexpr int kRows = TileM / (kThreads / kThreadsX);
  constexpr int kColumns = TileN / kThreadsX;
  static_assert(kRows % 4 == 0 && kColumns % 4 == 0 && TileK % 4 == 0 && TileK <= TileM, "a thread's part is of fours");
  __shared__ __attribute__((aligned(16))) float tile_a[TileK][TileM];
  __shared__ __attribute__((aligned(16))) float tile_b[TileK][TileN];

  const int thread = static_cast<int>(threadIdx.x);
  const int row = thread / kThreadsX * 4;
  const int column = thread % kThreadsX * 4;
  constexpr int kRowStride = kThreads / kThreadsX * 4;
  constexpr int kColumnStride = kThreadsX * 4;

  for (int tile_y = static_cast<int>(blockIdx.y); tile_y < m / TileM; tile_y += static_cast<int>(gridDim.y)) {
    for (int tile_x = static_cast<int>(blockIdx.x); tile_x < n / TileN; tile_x += static_cast<int>(gridDim.x)) {
      const float* from_a = a + static_cast<long long>(tile_y) * TileM * k;
      const float* from_b = b + static_cast<long long>(tile_x) * TileN;
      float sum[kRows][kColumns] = {};
      for (int step = 0; step < k; step += TileK) {
        __syncthreads();
        for (int vector = thread; vector < TileM * TileK / 4; vector += kThreads) {
          const int r = vector / (TileK / 4), q = vector % (TileK / 4) * 4;
          const Float4 four = *reinterpret_cast<const Float4*>(from_a + static_cast<long long>(r) * k + step + q);
#pragma unroll
          for (int i = 0; i < 4; ++i) { tile_a[q + i][r ^ q] = four[i]; }
        }
        for (int vector = thread; vector < TileK * TileN / 4; vector += kThreads) {
          const int r = vector / (TileN / 4), q = vector % (TileN / 4) * 4;
          *reinterpret_cast<Float4*>(&tile_b[r][q]) =
              *reinterpret_cast<const Float4*>(from_b + static_cast<long long>(step + r) * n + q);
        }
        __syncthreads();
#pragma unroll 4
        for (int q = 0; q < TileK; ++q) {
          float left[kRows], right[kColumns];
#pragma unroll
          for (int i = 0; i < kRows; i += 4) {
            const Float4 four = *reinterpret_cast<const Float4*>(&tile_a[q][(row + i / 4 * kRowStride) ^ (q & ~3)]);
#pragma unroll
            for (int at = 0; at < 4; ++at) { left[i + at] = four[at]; }
          }
#pragma unroll
          for (int j = 0; j < kColumns; j += 4) {
            const Float4 four = *reinterpret_cast<const Float4*>(&tile_b[q][column + j / 4 * kColumnStride]);
#pragma unroll
            for (int at = 0; at < 4; ++at) { right[j + at] = four[at]; }
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
          const Float4 four = {sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]};
          float* to = c + static_cast<long long>(to_row) * n + tile_x * TileN + column + j / 4 * kColumnStride;
          *reinterpret_cast<Float4*>(to) = four;
        }
      }
    }
  }
}
