// Targets whose matrix cores multiply 16 x 16 x 16 parts of bf16: CDNA 2 and later. The others use their FMA units.
#if defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || defined(__gfx950__)
#define ELBOWROOM_MATRIX_CORES 1
#else
#define ELBOWROOM_MATRIX_CORES 0
#endif

typedef short Bf16x4 __attribute__((vector_size(8)));

__device__ inline float bf16_at(Bf16x4 values, int at) { return to_float(Bf16{static_cast<unsigned short>(values[at])}); }

/// Tiles of bf16 in LDS, four adjacent k of a row (of A) or a column (of B) together, as a matrix core's lane wants them. The fours
/// of a line are permuted by the line, so that 16 lanes that read 16 lines meet 16 different banks.
template <int Lines, int TileK>
struct FoursOfK {
  static constexpr int kFours = TileK / 4;
  Bf16x4 fours[Lines * kFours];

  __device__ Bf16x4& at(int line, int four) { return fours[line * kFours + (four ^ (line * kFours / 16 % kFours))]; }
};

/// Adds the products of four fours of k from `q` on to a lane's part of C. `row` and `column` are those of the wave, `lane` is
/// 0..63: of each 16 x 16 part it holds row lane % 16, columns lane / 16 * 4 to + 3.
template <int Rows, int Columns, class TileA, class TileB>
__device__ inline void multiply_parts(TileA& tile_a, TileB& tile_b, int q, int row, int column, int lane,
                                      Float4 (&sum)[Rows][Columns]) {
#if ELBOWROOM_MATRIX_CORES
  // The product is taken transposed, B^T A^T: a lane then holds adjacent columns of C and stores them at once.
  Bf16x4 left[Rows], right[Columns];
#pragma unroll
  for (int i = 0; i < Rows; ++i) { left[i] = tile_a.at(row + i * 16 + lane % 16, q + lane / 16); }
#pragma unroll
  for (int j = 0; j < Columns; ++j) { right[j] = tile_b.at(column + j * 16 + lane % 16, q + lane / 16); }
#pragma unroll
  for (int i = 0; i < Rows; ++i) {
#pragma unroll
    for (int j = 0; j < Columns; ++j) {
      sum[i][j] = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(right[j], left[i], sum[i][j], 0, 0, 0);
    }
  }
#else
#pragma unroll 1
  for (int four = q; four < q + 4; ++four) {
#pragma unroll
    for (int i = 0; i < Rows; ++i) {
      const Bf16x4 left = tile_a.at(row + i * 16 + lane % 16, four);
#pragma unroll
      for (int j = 0; j < Columns; ++j) {
#pragma unroll
        for (int at = 0; at < 4; ++at) {
          const Bf16x4 right = tile_b.at(column + j * 16 + lane / 16 * 4 + at, four);
#pragma unroll
          for (int x = 0; x < 4; ++x) { sum[i][j][at] = fmaf(bf16_at(left, x), bf16_at(right, x), sum[i][j][at]); }
        }
      }
    }
  }
#endif
}

/// bf16 GEMM with f32 sums: 256 threads, four waves of 64, each for a quarter of the tile in parts of 16 x 16. Nothing is
/// prefetched: the other resident blocks hide the loads.
template <int TileM, int TileN, int TileK>
__device__ inline void tiled_gemm_bf16(const Bf16* __restrict__ a, const Bf16* __restrict__ b, float* __restrict__ c, int m, int n,
                                       int k) {
  constexpr int kThreads = 256;
  constexpr int kRows = TileM / 2 / 16;  // parts of a wave, along m and n
  constexpr int kColumns = TileN / 2 / 16;
  static_assert(TileM % 32 == 0 && TileN % 32 == 0 && TileK % 16 == 0, "a wave's part is of 16 x 16 x 16");
  __shared__ FoursOfK<TileM, TileK> tile_a;
  __shared__ FoursOfK<TileN, TileK> tile_b;

  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 64;
  const int row = thread / 64 / 2 * (TileM / 2);
  const int column = thread / 64 % 2 * (TileN / 2);

  for (int tile_y = static_cast<int>(blockIdx.y); tile_y < m / TileM; tile_y += static_cast<int>(gridDim.y)) {
    for (int tile_x = static_cast<int>(blockIdx.x); tile_x < n / TileN; tile_x += static_cast<int>(gridDim.x)) {
      const Bf16* from_a = a + static_cast<long long>(tile_y) * TileM * k;
      const Bf16* from_b = b + static_cast<long long>(tile_x) * TileN;
      Float4 sum[kRows][kColumns] = {};
      for (int step = 0; step < k; step += TileK) {
        __syncthreads();
        for (int four = thread; four < TileM * TileK / 4; four += kThreads) {
          const int r = four / (TileK / 4), q = four % (TileK / 4);
          tile_a.at(r, q) = *reinterpret_cast<const Bf16x4*>(from_a + static_cast<long long>(r) * k + step + q * 4);
        }
        for (int square = thread; square < TileK / 4 * (TileN / 4); square += kThreads) {
          const int q = square / (TileN / 4), j = square % (TileN / 4) * 4;
          Bf16x4 lines[4];
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            lines[i] = *reinterpret_cast<const Bf16x4*>(from_b + static_cast<long long>(step + q * 4 + i) * n + j);
          }
#pragma unroll
          for (int i = 0; i < 4; ++i) { tile_b.at(j + i, q) = Bf16x4{lines[0][i], lines[1][i], lines[2][i], lines[3][i]}; }
        }
        __syncthreads();
#pragma unroll 2
        for (int q = 0; q < TileK / 4; q += 4) { multiply_parts(tile_a, tile_b, q, row, column, lane, sum); }
      }

#pragma unroll
      for (int i = 0; i < kRows; ++i) {
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
          const long long to_row = tile_y * TileM + row + i * 16 + lane % 16;
          float* to = c + to_row * n + tile_x * TileN + column + j * 16 + lane / 16 * 4;
          *reinterpret_cast<Float4*>(to) = sum[i][j];
        }
      }
    }
  }
}
