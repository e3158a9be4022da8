#include "backend_hip/rocblas_library.hpp"

#include <fmt/format.h>

#include <vector>

#include "elbowroom/base/environment.hpp"

namespace elbowroom::hip {
namespace {

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

}  // namespace

Result<RocblasLibrary> RocblasLibrary::load(int generation) {
  std::vector<std::string> names = names_of(generation);
  if (const auto chosen = read(kRocblasLibrary)) names = {*chosen};
  auto library = elbowroom::detail::DynamicLibrary::open(names);
  if (!library) {
    return unavailable(fmt::format("library_gemm: {}; set {} to its path", library.error().message, kRocblasLibrary.name));
  }
  library->keep_loaded();
  RocblasLibrary rocblas(std::move(*library));
  for (const Status& bound : {
           rocblas.library_.bind("rocblas_create_handle", rocblas.functions.create_handle),
           rocblas.library_.bind("rocblas_destroy_handle", rocblas.functions.destroy_handle),
           rocblas.library_.bind("rocblas_set_stream", rocblas.functions.set_stream),
           rocblas.library_.bind("rocblas_status_to_string", rocblas.functions.status_to_string),
           rocblas.library_.bind("rocblas_gemm_ex", rocblas.functions.gemm_ex),
       }) {
    if (!bound) return unavailable(fmt::format("library_gemm: {}", bound.error().message));
  }
  return rocblas;
}

Status RocblasLibrary::check(int code, const char* call) const {
  if (code == 0) return {};
  return failed(fmt::format("{} failed: {}", call, functions.status_to_string(code)));
}

}  // namespace elbowroom::hip
