// Kernels of a user's own, for scripts/gpu/own_kernels.sh.

extern "C" __global__ void saxpy(float a, const float* x, float* y, long long count) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; at < count; at += stride) {
    y[at] += a * x[at];
  }
}

// C = A * B, row major, n x n, one 32 x 32 tile for each block of 32 x 8 threads.
extern "C" __global__ void __launch_bounds__(256) product(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[32][33];
  __shared__ float tile_b[32][33];
  const int column = static_cast<int>(blockIdx.x) * 32 + static_cast<int>(threadIdx.x);
  const int first_row = static_cast<int>(blockIdx.y) * 32 + static_cast<int>(threadIdx.y);
  float sums[4] = {};
  for (int k = 0; k < n; k += 32) {
    for (int part = 0; part < 4; ++part) {
      const int row = static_cast<int>(threadIdx.y) + 8 * part;
      tile_a[row][threadIdx.x] = a[static_cast<long long>(first_row + 8 * part) * n + k + static_cast<int>(threadIdx.x)];
      tile_b[row][threadIdx.x] = b[static_cast<long long>(k + row) * n + column];
    }
    __syncthreads();
    for (int at = 0; at < 32; ++at) {
      for (int part = 0; part < 4; ++part) { sums[part] += tile_a[threadIdx.y + 8 * part][at] * tile_b[at][threadIdx.x]; }
    }
    __syncthreads();
  }
  for (int part = 0; part < 4; ++part) { c[static_cast<long long>(first_row + 8 * part) * n + column] = sums[part]; }
}

// y holds x of the next block of the cluster.
extern "C" __global__ void neighbour(const float* x, float* y) {
  __shared__ float own[256];
  own[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
  unsigned rank = 0;
  unsigned blocks = 0;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(&own[threadIdx.x]));
  unsigned there = 0;
  float value = 0;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"((rank + 1) % blocks));
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(there) : "memory");
  y[blockIdx.x * 256 + threadIdx.x] = value;
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
