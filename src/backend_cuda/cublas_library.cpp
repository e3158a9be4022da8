#include "backend_cuda/cublas_library.hpp"

#include <fmt/format.h>

#include <vector>

#include "elbowroom/base/environment.hpp"

namespace elbowroom::cuda {

Result<CublasLibrary> CublasLibrary::load() {
  std::vector<std::string> names{"libcublas.so.13", "libcublas.so.12", "libcublas.so"};
  if (const auto chosen = read(kCublasLibrary)) names = {*chosen};
  auto library = elbowroom::detail::DynamicLibrary::open(names);
  if (!library) {
    return unavailable(fmt::format("library_gemm: {}; set {} to its path", library.error().message, kCublasLibrary.name));
  }
  CublasLibrary cublas(std::move(*library));
  for (const Status& bound : {
           cublas.opened_.bind("cublasCreate_v2", cublas.functions.create),
           cublas.opened_.bind("cublasDestroy_v2", cublas.functions.destroy),
           cublas.opened_.bind("cublasSetStream_v2", cublas.functions.set_stream),
           cublas.opened_.bind("cublasSetWorkspace_v2", cublas.functions.set_workspace),
           cublas.opened_.bind("cublasSetSmCountTarget", cublas.functions.set_sm_count_target),
           cublas.opened_.bind("cublasGemmEx", cublas.functions.gemm_ex),
       }) {
    if (!bound) return unavailable(fmt::format("library_gemm: {}", bound.error().message));
  }
  return cublas;
}

Status CublasLibrary::check(int code, const char* call) {
  if (code == 0) return {};
  return failed(fmt::format("{} failed: cuBLAS status {}", call, code));
}

}  // namespace elbowroom::cuda
