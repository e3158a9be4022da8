// Input data, reference checks and probes. What they compute for a seed and an index is the same on every device.

constexpr int kThreads = 256;

struct Mismatches {
  unsigned long long count;
  unsigned long long first;
};

/// When the first block began and the last one ended, in ticks of the device's steady counter.
struct Interval {
  unsigned long long begin;
  unsigned long long end;
};

/// A well-mixed 32-bit hash of an index (finaliser of the splitmix family).
__device__ inline unsigned int hash_index(unsigned long long index, unsigned long long seed) {
  unsigned long long x = index + 0x9E3779B97F4A7C15ull * (seed + 1);
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return static_cast<unsigned int>((x ^ (x >> 31)) >> 16);
}

/// Uniform in [-1, 1), on a grid of 2^-7 so that f32 and bf16 hold it exactly.
__device__ inline float uniform_value(long long index, unsigned long long seed) {
  const unsigned int hash = hash_index(static_cast<unsigned long long>(index), seed);
  return static_cast<float>(static_cast<int>(hash & 255u) - 128) * (1.0f / 128.0f);
}

/// Small whole numbers: their sums over 8 ranks are exact in bf16.
__device__ inline float collective_value(long long index, int rank, unsigned long long seed) {
  return static_cast<float>(hash_index(static_cast<unsigned long long>(index), seed * 64 + static_cast<unsigned long long>(rank)) &
                            7u);
}

__device__ inline void report(Mismatches* out, long long index) {
  atomicAdd(&out->count, 1ull);
  atomicMin(&out->first, static_cast<unsigned long long>(index));
}

__device__ inline long long first_index() {
  return static_cast<long long>(blockIdx.x) * kThreads + static_cast<long long>(threadIdx.x);
}
__device__ inline long long index_stride() { return static_cast<long long>(gridDim.x) * kThreads; }

template <class T>
__device__ inline void fill_uniform(T* data, long long count, unsigned long long seed) {
  for (long long i = first_index(); i < count; i += index_stride()) data[i] = from_float<T>(uniform_value(i, seed));
}

template <class T>
__device__ inline void fill_collective(T* data, long long count, int rank, unsigned long long seed) {
  for (long long i = first_index(); i < count; i += index_stride()) data[i] = from_float<T>(collective_value(i, rank, seed));
}

/// What a collective of `ranks` ranks leaves in rank `rank`; `op` in the order of CollectiveOp.
struct Expected {
  int op;
  int rank;
  int ranks;
  long long count;
  unsigned long long seed;

  __device__ float at(long long i) const {
    constexpr int kAllReduce = 0, kAllGather = 1, kReduceScatter = 2;
    if (op == kAllReduce || op == kReduceScatter) {
      const long long index = op == kAllReduce ? i : rank * count + i;
      float sum = 0;
      for (int from = 0; from < ranks; ++from) sum += collective_value(index, from, seed);
      return sum;
    }
    const long long chunk = count / ranks;
    const long long offset = op == kAllGather ? 0 : rank * chunk;
    return collective_value(offset + i % chunk, static_cast<int>(i / chunk), seed);
  }
};

template <class T>
__device__ inline void check_collective(const T* received, const Expected& expected, Mismatches* out) {
  for (long long i = first_index(); i < expected.count; i += index_stride()) {
    // Written so that NaN counts as a mismatch.
    if (!(to_float(received[i]) == expected.at(i))) report(out, i);
  }
}

template <class T>
__device__ inline void check_elementwise(const T* in, const T* result, long long count, int op, Mismatches* out) {
  // Twice the rounding of bf16 at its worst; for f32 what erff may be off.
  const double relative = sizeof(T) == 2 ? 1.0 / 128 : 1e-5;
  for (long long i = first_index(); i < count; i += index_stride()) {
    const double expected = apply<double>(op, static_cast<double>(to_float(in[i])));
    const double difference = fabs(static_cast<double>(to_float(result[i])) - expected);
    if (!(difference <= relative * fabs(expected) + 1e-6)) report(out, i);
  }
}

__device__ inline double sign_of(long long index, unsigned long long seed) {
  return (hash_index(static_cast<unsigned long long>(index), ~seed) & 1u) == 0 ? 1.0 : -1.0;
}

__device__ inline double block_sum(double value) {
  __shared__ double partial[kThreads];
  const int thread = static_cast<int>(threadIdx.x);
  partial[thread] = value;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (thread < half) partial[thread] += partial[thread + half];
    __syncthreads();
  }
  const double total = partial[0];
  __syncthreads();
  return total;
}

/// Columns first..last-1 of a matrix of `stride` columns.
struct Columns {
  long long first;
  long long last;
  long long stride;
};

/// The sum over `columns` of matrix[row][column] * x[column]; x is given, or made of +-1 where it is null.
template <class T>
__device__ inline double row_times(const T* matrix, long long row, const Columns& columns, const double* x,
                                   unsigned long long seed) {
  double sum = 0;
  for (long long column = columns.first + static_cast<long long>(threadIdx.x); column < columns.last; column += kThreads) {
    const double factor = x == nullptr ? sign_of(column, seed) : x[column];
    sum += static_cast<double>(to_float(matrix[row * columns.stride + column])) * factor;
  }
  return block_sum(sum);
}

template <class T>
__device__ inline void matrix_times_vector(const T* matrix, long long rows, const Columns& columns, const double* x,
                                           unsigned long long seed, double* y) {
  for (long long row = static_cast<long long>(blockIdx.x); row < rows; row += static_cast<long long>(gridDim.x)) {
    const double sum = row_times(matrix, row, columns, x, seed);
    if (threadIdx.x == 0) y[row] = sum;
  }
}

/// A row whose checksum is off is reported with `first_index` added.
template <class T>
__device__ inline void compare_rows(const T* c, long long m, const Columns& columns, const double* expected, double tolerance,
                                    unsigned long long seed, long long first_index, Mismatches* out) {
  for (long long row = static_cast<long long>(blockIdx.x); row < m; row += static_cast<long long>(gridDim.x)) {
    const double sum = row_times(c, row, columns, nullptr, seed);
    if (threadIdx.x == 0 && !(fabs(sum - expected[row]) <= tolerance)) report(out, first_index + row);
  }
}

#define ELBOWROOM_DATA_KERNELS(suffix, T)                                                                                       \
  extern "C" __global__ void __launch_bounds__(256) fill_uniform_##suffix(T* data, long long count, unsigned long long seed) {  \
    fill_uniform(data, count, seed);                                                                                            \
  }                                                                                                                             \
  extern "C" __global__ void __launch_bounds__(256)                                                                             \
      fill_collective_##suffix(T* data, long long count, int rank, unsigned long long seed) {                                   \
    fill_collective(data, count, rank, seed);                                                                                   \
  }                                                                                                                             \
  extern "C" __global__ void __launch_bounds__(256) check_collective_##suffix(                                                  \
      const T* received, int op, int rank, int ranks, long long count, unsigned long long seed, Mismatches* out) {              \
    check_collective(received, Expected{op, rank, ranks, count, seed}, out);                                                    \
  }                                                                                                                             \
  extern "C" __global__ void __launch_bounds__(256)                                                                             \
      check_elementwise_##suffix(const T* in, const T* result, long long count, int op, Mismatches* out) {                      \
    check_elementwise(in, result, count, op, out);                                                                              \
  }                                                                                                                             \
  extern "C" __global__ void __launch_bounds__(256)                                                                             \
      matrix_times_vector_##suffix(const T* matrix, long long rows, long long first, long long last, long long stride,          \
                                   const double* x, unsigned long long seed, double* y) {                                       \
    matrix_times_vector(matrix, rows, Columns{first, last, stride}, x, seed, y);                                                \
  }                                                                                                                             \
  extern "C" __global__ void __launch_bounds__(256)                                                                             \
      compare_rows_##suffix(const T* c, long long m, long long first, long long last, long long stride, const double* expected, \
                            double tolerance, unsigned long long seed, long long first_index, Mismatches* out) {                \
    compare_rows(c, m, Columns{first, last, stride}, expected, tolerance, seed, first_index, out);                              \
  }

ELBOWROOM_DATA_KERNELS(f32, float)
ELBOWROOM_DATA_KERNELS(bf16, Bf16)

/// Every block spins for `ticks` of the steady counter.
extern "C" __global__ void spin(unsigned long long ticks, Interval* out) {
  const unsigned long long begin = static_cast<unsigned long long>(wall_clock64());
  unsigned long long now = begin;
  while (now - begin < ticks) now = static_cast<unsigned long long>(wall_clock64());
  if (threadIdx.x != 0) return;
  atomicMin(&out->begin, begin);
  atomicMax(&out->end, now);
}

/// Returns once the word, which the host writes, is at least `value`.
extern "C" __global__ void await_word(const unsigned int* word, unsigned int value) {
  while (__hip_atomic_load(word, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) < value) __builtin_amdgcn_s_sleep(32);
}
