// 64x64x32 and 64x64x64 are the source paper's opt1 and opt2. The register budgets, in waves for each SIMD and so in blocks for
// each CU, keep three or four small blocks or two large ones; of the deepest f32 tile LDS keeps no more than two.

#define ELBOWROOM_TILED_GEMM(dtype, T, tile_m, tile_n, tile_k, waves)                                           \
  extern "C" __global__ void __launch_bounds__(256, waves) tiled_gemm_##dtype##_##tile_m##x##tile_n##x##tile_k( \
      const T* __restrict__ a, const T* __restrict__ b, float* __restrict__ c, int m, int n, int k) {           \
    tiled_gemm_##dtype<tile_m, tile_n, tile_k>(a, b, c, m, n, k);                                               \
  }

ELBOWROOM_TILED_GEMM(f32, float, 64, 64, 8, 4)
ELBOWROOM_TILED_GEMM(f32, float, 64, 64, 16, 4)
ELBOWROOM_TILED_GEMM(f32, float, 64, 64, 32, 4)
ELBOWROOM_TILED_GEMM(f32, float, 64, 64, 64, 2)
ELBOWROOM_TILED_GEMM(f32, float, 128, 128, 8, 2)
ELBOWROOM_TILED_GEMM(f32, float, 128, 128, 16, 2)
ELBOWROOM_TILED_GEMM(f32, float, 128, 128, 32, 2)
ELBOWROOM_TILED_GEMM(bf16, Bf16, 64, 64, 32, 3)
ELBOWROOM_TILED_GEMM(bf16, Bf16, 64, 64, 64, 3)
ELBOWROOM_TILED_GEMM(bf16, Bf16, 128, 128, 32, 2)
ELBOWROOM_TILED_GEMM(bf16, Bf16, 128, 128, 64, 2)
