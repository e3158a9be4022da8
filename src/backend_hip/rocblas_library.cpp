#include "backend_hip/rocblas_library.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "backend/dynamic_library.hpp"
#include "elbowroom/base/environment.hpp"

// rocBLAS's C interface as far as Elbowroom calls it. Source: rocblas-types.h and rocblas-functions.h of ROCm 5.0 to 7.0.
namespace elbowroom::hip {
namespace {

constexpr int kNoTranspose = 111;
constexpr int kFloat16 = 150;
constexpr int kFloat32 = 151;
constexpr int kBfloat16 = 168;
constexpr int kGemmStandard = 0;

/// Its number is its own and not ROCm's.
std::vector<std::string> names_of(int generation) {
  switch (generation) {
    case 7:
      return {"librocblas.so.5", "librocblas.so"};
    case 6:
      return {"librocblas.so.4", "librocblas.so"};
    default:
      return {"librocblas.so.3", "librocblas.so.0", "librocblas.so"};
  }
}

class RocblasLibrary final : public gpu::BlasLibrary {
 public:
  explicit RocblasLibrary(elbowroom::detail::DynamicLibrary library) : opened_(std::move(library)) {}

  Status bind_all() {
    for (const Status& bound : {
             bind(opened_, "rocblas_create_handle", calls.create),
             bind(opened_, "rocblas_destroy_handle", calls.destroy),
             bind(opened_, "rocblas_set_stream", calls.set_stream),
             opened_.bind("rocblas_status_to_string", status_to_string_),
             opened_.bind("rocblas_gemm_ex", gemm_ex_),
         }) {
      if (!bound) { return unavailable(fmt::format("library_gemm: {}", bound.error().message)); }
    }
    return {};
  }

  [[nodiscard]] Status check(int code, const char* call) const override {
    if (code == 0) { return {}; }
    return failed(fmt::format("{} failed: {}", call, status_to_string_(code)));
  }

  [[nodiscard]] Status accepts(const gpu::BlasLaunch& /*launch*/, const gpu::Product& product) override {
    if (product.dtype != DataType::e4m3) { return {}; }
    return invalid_input("compute.dtype: \"e4m3\", expected \"f32\", \"bf16\" or \"f16\" (rocBLAS multiplies no other)");
  }

  [[nodiscard]] Status multiply(const gpu::BlasLaunch& launch, const gpu::Product& product) override {
    const auto& [m, n, k, dtype, a, b, c] = product;
    const int type = dtype == DataType::f32 ? kFloat32 : dtype == DataType::f16 ? kFloat16 : kBfloat16;
    const float one = 1;
    const float zero = 0;
    // rocBLAS is column major: row-major C = A B is its C^T = B^T A^T.
    return check(gemm_ex_(launch.handle, kNoTranspose, kNoTranspose, n, m, k, &one, b, type, n, a, type, k, &zero, c, type, n, c,
                          type, n, kFloat32, kGemmStandard, 0, 0),
                 "rocblas_gemm_ex");
  }

 private:
  elbowroom::detail::DynamicLibrary opened_;
  const char* (*status_to_string_)(int code) = nullptr;
  int (*gemm_ex_)(gpu::BlasHandle handle, int transpose_a, int transpose_b, std::int32_t m, std::int32_t n, std::int32_t k,
                  const void* alpha, const void* a, int type_a, std::int32_t lda, const void* b, int type_b, std::int32_t ldb,
                  const void* beta, const void* c, int type_c, std::int32_t ldc, void* d, int type_d, std::int32_t ldd,
                  int compute_type, int algorithm, std::int32_t solution, std::uint32_t flags) = nullptr;
};

}  // namespace

Result<std::unique_ptr<gpu::BlasLibrary>> load_rocblas(int generation) {
  std::vector<std::string> names = names_of(generation);
  if (const auto chosen = read(kRocblasLibrary)) { names = {*chosen}; }
  auto library = elbowroom::detail::DynamicLibrary::open(names);
  if (!library) {
    return unavailable(fmt::format("library_gemm: {}; set {} to its path", library.error().message, kRocblasLibrary.name));
  }
  library->keep_loaded();
  auto rocblas = std::make_unique<RocblasLibrary>(std::move(*library));
  if (Status bound = rocblas->bind_all(); !bound) { return bound.error(); }
  return std::unique_ptr<gpu::BlasLibrary>(std::move(rocblas));
}

}  // namespace elbowroom::hip
