// A stand-in for librocblas.so.4: rocblas_gemm_ex without transposition, in f32, bf16 and f16, as an operation of the fake runtime.
// The environment, read at each call:
//   ELBOWROOM_FAKE_ROCBLAS_FAIL=1   rocblas_gemm_ex fails with rocblas_status_internal_error
#include <cstdint>
#include <cstdlib>

#include "fake_hip.hpp"
#include "host_numbers.hpp"

namespace {

struct Handle {
  hip::Stream stream = nullptr;
};

struct Product {
  int m, n, k;
  float alpha, beta;
  fake_hip::Numbers a, b, c, d;
  int lda, ldb, ldc, ldd;
};

constexpr int kSuccess = 0, kNotImplemented = 2, kInternalError = 6;
constexpr int kNoTranspose = 111, kFloat16 = 150, kFloat32 = 151, kBfloat16 = 168;

void multiply(void* data) {
  auto* const what = static_cast<Product*>(data);
  const auto index = [](int row, int column, int stride) {
    return static_cast<std::size_t>(column) * static_cast<std::size_t>(stride) + static_cast<std::size_t>(row);
  };
  for (int column = 0; column < what->n; ++column) {
    for (int row = 0; row < what->m; ++row) {
      float sum = 0;
      for (int i = 0; i < what->k; ++i) {
        sum += what->a.read(index(row, i, what->lda)) * what->b.read(index(i, column, what->ldb));
      }
      // As the library does, so that NaN in C is not carried over.
      const float before = what->beta == 0 ? 0 : what->beta * what->c.read(index(row, column, what->ldc));
      what->d.write(index(row, column, what->ldd), what->alpha * sum + before);
    }
  }
  delete what;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

const char* rocblas_status_to_string(int code) {
  return code == kInternalError ? "rocblas_status_internal_error" : "rocblas_status_not_implemented";
}

int rocblas_create_handle(Handle** handle) {
  *handle = new Handle;
  return kSuccess;
}

int rocblas_destroy_handle(Handle* handle) {
  delete handle;
  return kSuccess;
}

int rocblas_set_stream(Handle* handle, hip::Stream stream) {
  handle->stream = stream;
  return kSuccess;
}

int rocblas_gemm_ex(Handle* handle, int transpose_a, int transpose_b, std::int32_t m, std::int32_t n, std::int32_t k,
                    const void* alpha, const void* a, int type_a, std::int32_t lda, const void* b, int type_b, std::int32_t ldb,
                    const void* beta, const void* c, int type_c, std::int32_t ldc, void* d, int type_d, std::int32_t ldd,
                    int compute_type, int, std::int32_t, std::uint32_t) {
  if (std::getenv("ELBOWROOM_FAKE_ROCBLAS_FAIL") != nullptr) { return kInternalError; }
  const bool known =
      (type_a == kBfloat16 || type_a == kFloat16 || type_a == kFloat32) && type_b == type_a && type_c == type_a && type_d == type_a;
  if (transpose_a != kNoTranspose || transpose_b != kNoTranspose || compute_type != kFloat32 || !known) { return kNotImplemented; }
  using enum fake_hip::Format;
  const auto format = type_a == kBfloat16 ? bf16 : type_a == kFloat16 ? f16 : f32;
  const auto numbers = [&](const void* data) { return fake_hip::Numbers{const_cast<void*>(data), format}; };
  auto* const product = new Product{m,
                                    n,
                                    k,
                                    *static_cast<const float*>(alpha),
                                    *static_cast<const float*>(beta),
                                    numbers(a),
                                    numbers(b),
                                    numbers(c),
                                    numbers(d),
                                    lda,
                                    ldb,
                                    ldc,
                                    ldd};
  // 100 TFLOP/s.
  const auto nanoseconds = 2'000 + std::uint64_t(m) * std::uint64_t(n) * std::uint64_t(k) / 50'000;
  const FakeOperation operation{"Cijk_Ailk_Bljk_fake", product, nullptr, multiply, nanoseconds};
  if (fake_hip_enqueue(handle->stream, &operation) == 0) { return kSuccess; }
  delete product;
  return kInternalError;
}
}
#pragma GCC visibility pop
