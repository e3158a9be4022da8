#include "backend_cuda/cublas_library.hpp"

#include <fmt/format.h>
#include <library_types.h>

#include <string>
#include <utility>
#include <vector>

#include "backend/dynamic_library.hpp"
#include "backend_cuda/cublaslt_products.hpp"
#include "elbowroom/base/environment.hpp"

namespace elbowroom::cuda {
namespace {

class CublasLibrary final : public gpu::BlasLibrary {
 public:
  explicit CublasLibrary(elbowroom::detail::DynamicLibrary library) : opened_(std::move(library)) {}

  Status bind_all() {
    for (const Status& bound : {
             bind(opened_, "cublasCreate_v2", calls.create),
             bind(opened_, "cublasDestroy_v2", calls.destroy),
             bind(opened_, "cublasSetStream_v2", calls.set_stream),
             bind(opened_, "cublasSetWorkspace_v2", calls.set_workspace),
             bind(opened_, "cublasSetSmCountTarget", calls.set_sm_count_target),
             opened_.bind("cublasGemmEx", gemm_ex_),
         }) {
      if (!bound) { return unavailable(fmt::format("library_gemm: {}", bound.error().message)); }
    }
    return {};
  }

  [[nodiscard]] Status check(int code, const char* call) const override { return check_cublas(code, call); }

  // A handle of cuBLAS is one of cuBLASLt.
  [[nodiscard]] Status accepts(const gpu::BlasLaunch& launch, const gpu::Product& product) override {
    if (product.dtype != DataType::e4m3) { return {}; }
    if (Status bound = in_e4m3_.bind_all(opened_); !bound) {
      return unavailable(fmt::format("library_gemm: {}", bound.error().message));
    }
    return in_e4m3_.choose(launch, product);
  }

  [[nodiscard]] Status multiply(const gpu::BlasLaunch& launch, const gpu::Product& product) override {
    const auto& [m, n, k, dtype, a, b, c] = product;
    if (dtype == DataType::e4m3) { return in_e4m3_.multiply(launch, product); }
    const cudaDataType type = dtype == DataType::f32 ? CUDA_R_32F : dtype == DataType::f16 ? CUDA_R_16F : CUDA_R_16BF;
    const float one = 1;
    const float zero = 0;
    // cuBLAS is column major: row-major C = A B is its C^T = B^T A^T.
    return check(gemm_ex_(launch.handle, kCublasNoTranspose, kCublasNoTranspose, n, m, k, &one, b, type, n, a, type, k, &zero, c,
                          type, n, kCublasCompute32F, kCublasGemmDefault),
                 "cublasGemmEx");
  }

 private:
  elbowroom::detail::DynamicLibrary opened_;
  int (*gemm_ex_)(gpu::BlasHandle handle, int transpose_a, int transpose_b, int m, int n, int k, const void* alpha, const void* a,
                  cudaDataType type_a, int lda, const void* b, cudaDataType type_b, int ldb, const void* beta, void* c,
                  cudaDataType type_c, int ldc, int compute_type, int algorithm) = nullptr;
  CublasLtProducts in_e4m3_;
};

}  // namespace

Status check_cublas(int code, const char* call) {
  if (code == 0) { return {}; }
  return failed(fmt::format("{} failed: cuBLAS status {}", call, code));
}

Result<std::unique_ptr<gpu::BlasLibrary>> load_cublas() {
  std::vector<std::string> names{"libcublas.so.13", "libcublas.so.12", "libcublas.so"};
  if (const auto chosen = read(kCublasLibrary)) { names = {*chosen}; }
  auto library = elbowroom::detail::DynamicLibrary::open(names);
  if (!library) {
    return unavailable(fmt::format("library_gemm: {}; set {} to its path", library.error().message, kCublasLibrary.name));
  }
  auto cublas = std::make_unique<CublasLibrary>(std::move(*library));
  if (Status bound = cublas->bind_all(); !bound) { return bound.error(); }
  return std::unique_ptr<gpu::BlasLibrary>(std::move(cublas));
}

}  // namespace elbowroom::cuda
