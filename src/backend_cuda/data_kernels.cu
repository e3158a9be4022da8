#include <algorithm>

#include "backend_cuda/data_kernels.hpp"
#include "backend_cuda/device_functions.cuh"
#include "backend_cuda/elementwise_op.cuh"
#include "backend_cuda/handles.hpp"

namespace elbowroom::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kGrid = 132 * 8;  // fills the devices of the catalog; every kernel here strides over its data

__device__ float collective_value(std::int64_t index, int rank, std::uint64_t seed) {
  return static_cast<float>(hash_index(static_cast<std::uint64_t>(index), seed * 64 + static_cast<std::uint64_t>(rank)) & 7u);
}

__device__ void report(Mismatches* out, std::int64_t index) {
  atomicAdd(&out->count, 1ull);
  atomicMin(&out->first, static_cast<unsigned long long>(index));
}

__device__ std::int64_t first_index() { return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ std::int64_t index_stride() { return static_cast<std::int64_t>(gridDim.x) * blockDim.x; }

template <class T>
__global__ void fill_uniform_kernel(T* data, std::int64_t count, std::uint64_t seed) {
  for (std::int64_t i = first_index(); i < count; i += index_stride()) {
    data[i] = from_float<T>(uniform_value(static_cast<std::uint64_t>(i), seed));
  }
}

template <class T>
__global__ void fill_collective_kernel(T* data, std::int64_t count, int rank, std::uint64_t seed) {
  for (std::int64_t i = first_index(); i < count; i += index_stride()) data[i] = from_float<T>(collective_value(i, rank, seed));
}

__device__ float expected_value(const CollectiveCheck& check, std::int64_t i) {
  switch (check.op) {
    case CollectiveOp::all_reduce:
    case CollectiveOp::reduce_scatter: {
      const std::int64_t at = check.op == CollectiveOp::all_reduce ? i : check.rank * check.count + i;
      float sum = 0;
      for (int rank = 0; rank < check.ranks; ++rank) sum += collective_value(at, rank, check.seed);
      return sum;
    }
    case CollectiveOp::all_gather: {
      const std::int64_t chunk = check.count / check.ranks;
      return collective_value(i % chunk, static_cast<int>(i / chunk), check.seed);
    }
    case CollectiveOp::all_to_all: {
      const std::int64_t chunk = check.count / check.ranks;
      return collective_value(check.rank * chunk + i % chunk, static_cast<int>(i / chunk), check.seed);
    }
  }
  return 0;
}

template <class T>
__global__ void check_collective_kernel(const T* received, CollectiveCheck check, Mismatches* out) {
  for (std::int64_t i = first_index(); i < check.count; i += index_stride()) {
    // Written so that NaN counts as a mismatch.
    if (!(to_float(received[i]) == expected_value(check, i))) report(out, i);
  }
}

template <class T>
__global__ void check_elementwise_kernel(const T* in, const T* result, std::int64_t count, ElementwiseOp op, Mismatches* out) {
  // Twice the rounding of bf16 at its worst; for f32 what erff may be off.
  const double relative = sizeof(T) == 2 ? 1.0 / 128 : 1e-5;
  for (std::int64_t i = first_index(); i < count; i += index_stride()) {
    const double expected = apply<double>(op, static_cast<double>(to_float(in[i])));
    const double difference = fabs(static_cast<double>(to_float(result[i])) - expected);
    if (!(difference <= relative * fabs(expected) + 1e-6)) report(out, i);
  }
}

__device__ double sign_of(std::int64_t index, std::uint64_t seed) {
  return (hash_index(static_cast<std::uint64_t>(index), ~seed) & 1u) == 0 ? 1.0 : -1.0;
}

__device__ double block_sum(double value) {
  __shared__ double partial[kThreads];
  partial[threadIdx.x] = value;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (static_cast<int>(threadIdx.x) < half) partial[threadIdx.x] += partial[threadIdx.x + static_cast<unsigned>(half)];
    __syncthreads();
  }
  const double total = partial[0];
  __syncthreads();
  return total;
}

/// Columns first..last-1 of a matrix of `stride` columns.
struct Columns {
  std::int64_t first;
  std::int64_t last;
  std::int64_t stride;
};

/// The sum over `columns` of matrix[row][column] * x[column]; x is given, or made of +-1 where it is null.
template <class T>
__device__ double row_times(const T* matrix, std::int64_t row, Columns columns, const double* x, std::uint64_t seed) {
  double sum = 0;
  for (std::int64_t column = columns.first + threadIdx.x; column < columns.last; column += kThreads) {
    const double factor = x == nullptr ? sign_of(column, seed) : x[column];
    sum += static_cast<double>(to_float(matrix[row * columns.stride + column])) * factor;
  }
  return block_sum(sum);
}

template <class T>
__global__ void matrix_times_vector(const T* matrix, std::int64_t rows, Columns columns, const double* x, std::uint64_t seed,
                                    double* y) {
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const double sum = row_times(matrix, row, columns, x, seed);
    if (threadIdx.x == 0) y[row] = sum;
  }
}

template <class T>
__global__ void compare_rows(const T* c, std::int64_t m, Columns columns, const double* expected, double tolerance,
                             std::uint64_t seed, std::int64_t first_index, Mismatches* out) {
  for (std::int64_t row = blockIdx.x; row < m; row += gridDim.x) {
    const double sum = row_times(c, row, columns, nullptr, seed);
    if (threadIdx.x == 0 && !(fabs(sum - expected[row]) <= tolerance)) report(out, first_index + row);
  }
}

/// Calls `body` with a null pointer of the element type.
template <class Body>
void with_type(DataType dtype, Body body) {
  if (dtype == DataType::f32) {
    body(static_cast<float*>(nullptr));
  } else {
    body(static_cast<__nv_bfloat16*>(nullptr));
  }
}

}  // namespace

Status fill_uniform(void* data, std::int64_t count, DataType dtype, std::uint64_t seed, cudaStream_t stream) {
  with_type(dtype, [&](auto* type) {
    fill_uniform_kernel<<<kGrid, kThreads, 0, stream>>>(static_cast<decltype(type)>(data), count, seed);
  });
  return check(cudaGetLastError(), "fill_uniform");
}

Status poison(void* data, Bytes size, cudaStream_t stream) {
  return check(cudaMemsetAsync(data, 0xFF, static_cast<std::size_t>(size.count()), stream), "cudaMemsetAsync");
}

Status fill_collective(void* data, std::int64_t count, DataType dtype, int rank, std::uint64_t seed, cudaStream_t stream) {
  with_type(dtype, [&](auto* type) {
    fill_collective_kernel<<<kGrid, kThreads, 0, stream>>>(static_cast<decltype(type)>(data), count, rank, seed);
  });
  return check(cudaGetLastError(), "fill_collective");
}

Status check_collective(const void* received, const CollectiveCheck& expected, Mismatches* out, cudaStream_t stream) {
  with_type(expected.dtype, [&](auto* type) {
    check_collective_kernel<<<kGrid, kThreads, 0, stream>>>(static_cast<const std::remove_pointer_t<decltype(type)>*>(received),
                                                            expected, out);
  });
  return check(cudaGetLastError(), "check_collective");
}

Status check_elementwise(const void* in, const void* out_data, const Elementwise& what, Mismatches* out, cudaStream_t stream) {
  const std::int64_t count = what.bytes / size_of(what.dtype);
  with_type(what.dtype, [&](auto* type) {
    using T = const std::remove_pointer_t<decltype(type)>;
    check_elementwise_kernel<<<kGrid, kThreads, 0, stream>>>(static_cast<T*>(in), static_cast<T*>(out_data), count, what.op, out);
  });
  return check(cudaGetLastError(), "check_elementwise");
}

Status check_gemm(const GemmCheck& gemm, double* work, Mismatches* out, cudaStream_t stream) {
  double* const bx = work;
  double* const abx = work + gemm.k;
  for (std::int64_t first = 0; first < gemm.n; first += gemm.segment) {
    const Columns columns{first, std::min(first + gemm.segment, gemm.n), gemm.n};
    with_type(gemm.dtype_ab, [&](auto* type) {
      using T = const std::remove_pointer_t<decltype(type)>;
      matrix_times_vector<<<kGrid, kThreads, 0, stream>>>(static_cast<T*>(gemm.b), gemm.k, columns, nullptr, gemm.seed, bx);
      matrix_times_vector<<<kGrid, kThreads, 0, stream>>>(static_cast<T*>(gemm.a), gemm.m, {0, gemm.k, gemm.k}, bx, gemm.seed, abx);
    });
    with_type(gemm.dtype_c, [&](auto* type) {
      using T = const std::remove_pointer_t<decltype(type)>;
      compare_rows<<<kGrid, kThreads, 0, stream>>>(static_cast<T*>(gemm.c), gemm.m, columns, abx, gemm.tolerance, gemm.seed,
                                                   first / gemm.segment * gemm.m, out);
    });
  }
  return check(cudaGetLastError(), "check_gemm");
}

}  // namespace elbowroom::cuda
