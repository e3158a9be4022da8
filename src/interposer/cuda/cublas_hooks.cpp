#include "interposer/cuda/cublas_functions.hpp"
#include "interposer/cuda/interposer.hpp"
#include "interposer/process/routes.hpp"
#include "run/product.hpp"

// Products that would run in a window are made for fewer SMs: the library's own target, set around the call and put back after it.

namespace elbowroom::interposer::cuda {
using namespace process;
namespace {

using run::ProductType;

// A cudaDataType of library_types.h as rules name it.
constexpr ProductType product_type(int cuda_type) {
  constexpr int real_32f = 0;
  constexpr int real_16bf = 14;
  if (cuda_type == real_32f) { return ProductType::f32; }
  return cuda_type == real_16bf ? ProductType::bf16 : ProductType::other;
}

constinit LibraryFunctions<3> functions(HookedLibrary::kCublas,
                                        {"cublasGetStream_v2", "cublasGetSmCountTarget", "cublasSetSmCountTarget"});

struct LibraryCalls {
  int (*get_stream)(cublas::Handle, cu::Stream*) = functions.get<decltype(get_stream)>(0);
  int (*get_target)(cublas::Handle, int*) = functions.get<decltype(get_target)>(1);
  int (*set_target)(cublas::Handle, int) = functions.get<decltype(set_target)>(2);
  [[nodiscard]] bool complete() const { return get_stream != nullptr && get_target != nullptr && set_target != nullptr; }
};

// Sets the target for a scope; a target of the program's own stays.
class SmTargetScope {
 public:
  SmTargetScope(Interposer* state, cublas::Handle handle, const Product& product) : state_(state), handle_(handle) {
    if (state == nullptr || state->rules.target_of(product, kAnyName) == 0 || !calls_.complete()) { return; }
    cu::Stream stream = nullptr;
    int own = 0;
    if (calls_.get_stream(handle, &stream) != 0 || calls_.get_target(handle, &own) != 0 || own != 0) { return; }
    const SmTarget target = state->core->on_library_gemm(state->stream_id(stream, DefaultStream::kLegacy), product, now_ns());
    set_ = target.sms != 0 && calls_.set_target(handle, static_cast<int>(target.sms)) == 0;
  }
  ~SmTargetScope() {
    if (set_) { calls_.set_target(handle_, 0); }
  }
  SmTargetScope(const SmTargetScope&) = delete;
  SmTargetScope& operator=(const SmTargetScope&) = delete;

  void returned(int status) const {
    if (set_) { state_->core->on_library_gemm_done(status == 0 ? LaunchOutcome::ok : LaunchOutcome::failed); }
  }

 private:
  Interposer* state_;
  LibraryCalls calls_;
  cublas::Handle handle_;
  bool set_ = false;
};

template <auto Ours, class... Arguments>
int make(const CallTarget<Ours>& target, const Product& product, cublas::Handle handle, Arguments... arguments) {
  if (!target.followed()) { return target(handle, arguments...); }
  const SmTargetScope scope(interposer(), handle, product);
  const int status = target(handle, arguments...);
  scope.returned(status);
  return status;
}

}  // namespace
}  // namespace elbowroom::interposer::cuda

using elbowroom::run::product_of;
using namespace elbowroom::interposer::cuda;

int cublasGemmEx(cublas::Handle handle, cublas::Operation trans_a, cublas::Operation trans_b, int m, int n, int k,
                 const void* alpha, const void* a, cublas::Type type_a, int lda, const void* b, cublas::Type type_b, int ldb,
                 const void* beta, void* c, cublas::Type type_c, int ldc, cublas::ComputeType compute,
                 cublas::Algorithm algorithm) {
  return make(CallTarget<&cublasGemmEx>(__builtin_return_address(0)), product_of(product_type(type_a), m, n, k, 1), handle, trans_a,
              trans_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc, compute, algorithm);
}

int cublasGemmStridedBatchedEx(cublas::Handle handle, cublas::Operation trans_a, cublas::Operation trans_b, int m, int n, int k,
                               const void* alpha, const void* a, cublas::Type type_a, int lda, long long stride_a, const void* b,
                               cublas::Type type_b, int ldb, long long stride_b, const void* beta, void* c, cublas::Type type_c,
                               int ldc, long long stride_c, int batches, cublas::ComputeType compute, cublas::Algorithm algorithm) {
  return make(CallTarget<&cublasGemmStridedBatchedEx>(__builtin_return_address(0)),
              product_of(product_type(type_a), m, n, k, batches), handle, trans_a, trans_b, m, n, k, alpha, a, type_a, lda,
              stride_a, b, type_b, ldb, stride_b, beta, c, type_c, ldc, stride_c, batches, compute, algorithm);
}

int cublasSgemm_v2(cublas::Handle handle, cublas::Operation trans_a, cublas::Operation trans_b, int m, int n, int k,
                   const float* alpha, const float* a, int lda, const float* b, int ldb, const float* beta, float* c, int ldc) {
  return make(CallTarget<&cublasSgemm_v2>(__builtin_return_address(0)), product_of(ProductType::f32, m, n, k, 1), handle, trans_a,
              trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

int cublasSgemmStridedBatched(cublas::Handle handle, cublas::Operation trans_a, cublas::Operation trans_b, int m, int n, int k,
                              const float* alpha, const float* a, int lda, long long stride_a, const float* b, int ldb,
                              long long stride_b, const float* beta, float* c, int ldc, long long stride_c, int batches) {
  return make(CallTarget<&cublasSgemmStridedBatched>(__builtin_return_address(0)), product_of(ProductType::f32, m, n, k, batches),
              handle, trans_a, trans_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, batches);
}
