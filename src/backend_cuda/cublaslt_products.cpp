#include "backend_cuda/cublaslt_products.hpp"

#include <fmt/format.h>
#include <library_types.h>

#include <utility>

#include "backend_cuda/cublas_library.hpp"

namespace elbowroom::cuda {
namespace {

template <class... Parameters>
Status called(const gpu::Call<Parameters...>& call, std::type_identity_t<Parameters>... arguments) {
  return check_cublas(call.function(arguments...), call.name);
}

Error no_such_product() {
  return invalid_input(
      "compute.dtype: \"e4m3\", expected \"f32\", \"bf16\" or \"f16\": cuBLAS has no such product on this GPU (it has from sm_89 "
      "on)");
}

}  // namespace

Status CublasLtProducts::bind_all(const elbowroom::detail::DynamicLibrary& library) {
  for (const Status& bound : {
           gpu::bind(library, "cublasLtMatmulDescCreate", create_operation_),
           gpu::bind(library, "cublasLtMatmulDescDestroy", destroy_operation_),
           gpu::bind(library, "cublasLtMatmulDescSetAttribute", set_operation_),
           gpu::bind(library, "cublasLtMatrixLayoutCreate", create_layout_),
           gpu::bind(library, "cublasLtMatrixLayoutDestroy", destroy_layout_),
           gpu::bind(library, "cublasLtMatmulPreferenceCreate", create_preference_),
           gpu::bind(library, "cublasLtMatmulPreferenceDestroy", destroy_preference_),
           gpu::bind(library, "cublasLtMatmulPreferenceSetAttribute", set_preference_),
           gpu::bind(library, "cublasLtMatmulAlgoGetHeuristic", choose_algorithm_),
           gpu::bind(library, "cublasLtMatmul", multiply_),
       }) {
    if (!bound) { return bound; }
  }
  return {};
}

CublasLtProducts::Key CublasLtProducts::key_of(const gpu::BlasLaunch& launch, const gpu::Product& product) {
  return {launch.handle, launch.sm_target, product.m, product.n, product.k};
}

Status CublasLtProducts::layout(int type, int rows, int columns, Owned<LtLayout>& made) const {
  LtLayout created = nullptr;
  const Status done = called(create_layout_, &created, type, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns),
                             std::int64_t{rows});
  made = Owned<LtLayout>(created, {destroy_layout_.function});
  return done;
}

// cuBLAS is column major: row-major C = A B is its C^T = B^T A^T. Its first factor is transposed, the one way that sm_89 and sm_90
// have in e4m3: B by columns is a k x n matrix there.
Status CublasLtProducts::describe(const gpu::BlasLaunch& launch, const gpu::Product& product, Chosen& chosen) const {
  LtOperation operation = nullptr;
  if (Status made = called(create_operation_, &operation, kCublasCompute32F, CUDA_R_32F); !made) { return made; }
  chosen.operation = Owned<LtOperation>(operation, {destroy_operation_.function});
  for (const auto& [attribute, value] : {std::pair{kLtTransposeA, kCublasTranspose}, {kLtSmCountTarget, launch.sm_target}}) {
    if (Status set = called(set_operation_, operation, attribute, &value, sizeof value); !set) { return set; }
  }
  const auto& [m, n, k, dtype, a, b, c] = product;
  for (const Status& made :
       {layout(CUDA_R_8F_E4M3, k, n, chosen.a), layout(CUDA_R_8F_E4M3, k, m, chosen.b), layout(CUDA_R_16BF, n, m, chosen.c)}) {
    if (!made) { return made; }
  }
  return {};
}

Status CublasLtProducts::choose(const gpu::BlasLaunch& launch, const gpu::Product& product) {
  Chosen chosen;
  if (Status described = describe(launch, product, chosen); !described) { return described; }
  LtPreference created = nullptr;
  if (Status made = called(create_preference_, &created); !made) { return made; }
  const Owned<LtPreference> preference(created, {destroy_preference_.function});
  const std::size_t& most = launch.workspace_bytes;
  if (Status set = called(set_preference_, created, kLtMaxWorkspaceBytes, &most, sizeof most); !set) { return set; }

  LtHeuristicResult best{};
  int found = 0;
  const int code = choose_algorithm_.function(launch.handle, chosen.operation.get(), chosen.a.get(), chosen.b.get(), chosen.c.get(),
                                              chosen.c.get(), created, 1, &best, &found);
  if (code == kCublasNotSupported || (code == 0 && found == 0)) { return no_such_product(); }
  if (Status done = check_cublas(code, choose_algorithm_.name); !done) { return done; }
  chosen.algorithm = best.algorithm;
  chosen_.insert_or_assign(key_of(launch, product), std::move(chosen));
  return {};
}

Status CublasLtProducts::multiply(const gpu::BlasLaunch& launch, const gpu::Product& product) {
  const Key key = key_of(launch, product);
  if (!chosen_.contains(key)) {
    if (Status done = choose(launch, product); !done) { return done; }
  }
  const Chosen& chosen = chosen_.at(key);
  const float one = 1;
  const float zero = 0;
  return called(multiply_, launch.handle, chosen.operation.get(), &one, product.b, chosen.a.get(), product.a, chosen.b.get(), &zero,
                product.c, chosen.c.get(), product.c, chosen.c.get(), &chosen.algorithm, launch.workspace, launch.workspace_bytes,
                launch.stream);
}

}  // namespace elbowroom::cuda
