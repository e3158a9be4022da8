#include "interposer/cuda/cublas_lt_descriptors.hpp"
#include "interposer/cuda/cublas_lt_functions.hpp"
#include "interposer/cuda/cublas_lt_layouts.hpp"
#include "interposer/cuda/interposer.hpp"
#include "interposer/cuda/product_scope.hpp"
#include "interposer/process/routes.hpp"

// Products that a program asks cublasLt for itself: their target is an attribute of the matmul descriptor. The heuristic reads it
// when it chooses an algorithm, and the product when it launches one.

namespace elbowroom::interposer::cuda {
using namespace process;
namespace {

// The heuristic is told no stream. Most programs ask it right before the product, which goes where the thread's last one went.
thread_local constinit StreamId last_stream = 0;

// Null: the call is none of ours.
Interposer* interposer_for(cublas_lt::Descriptor descriptor) {
  if (descriptor == nullptr || !ProductScope::outermost()) { return nullptr; }
  Interposer* state = interposer();
  return state == nullptr || !state->rules.has_targets() ? nullptr : state;
}

// One target for all needs no look at the product, and neither does a moment in which none is set.
Product product_for(const Interposer& state, cublas_lt::Layout a, cublas_lt::Layout d) {
  return state.rules.sm_target > 0 || !state.core->sets_targets() ? Product{} : product_of_layouts(a, d);
}

// Said before anything is launched, so that the call can be made again. Algorithm, workspace and target may not go together.
bool is_refusal(int status) {
  return status == cublas_lt::kInvalidValue || status == cublas_lt::kArchMismatch || status == cublas_lt::kNotSupported;
}

// Which target a kept algorithm was chosen for is not known, but that it is one of the rules'. `refused`: what the library says
// without.
template <class Call>
int with_any_target(const Rules& rules, DescriptorUse& use, int refused, Call call) {
  for (std::size_t i = 0; i <= rules.product_count; ++i) {
    if (!use.set(i == 0 ? rules.sm_target : rules.products[i - 1].sms)) { continue; }
    const int status = call();
    if (!is_refusal(status)) { return status; }
    use.put_back();
  }
  return refused;
}

template <class Call>
int make(Interposer& state, cublas_lt::Descriptor descriptor, const Product& product, bool has_algorithm, Call call) {
  DescriptorUse use(state.driver.descriptors, descriptor, state.core->on_library_gemm(last_stream, product, now_ns()).sms);
  int status = call();
  if (use.targeted()) {
    if (!is_refusal(status)) {
      state.core->on_library_gemm_done(status == 0 ? LaunchOutcome::ok : LaunchOutcome::failed);
      return status;
    }
    use.put_back();
    state.core->on_library_gemm_done(LaunchOutcome::relaunched);
    status = call();
  }
  // Without its target an algorithm may be refused that was chosen for one.
  const bool may_need_target =
      is_refusal(status) && has_algorithm && state.driver.descriptors.chosen_for_target.load(std::memory_order_relaxed);
  return may_need_target ? with_any_target(state.rules, use, status, call) : status;
}

SmTarget expected_target(Interposer& state, const Product& product) {
  if (last_stream != 0) {
    // Not known: it is gone. To another rank's driver its handle may mean a new stream, and both need the same.
    if (const std::optional<SmTarget> expected = state.core->expected_sm_target(last_stream, product, now_ns())) {
      return *expected;
    }
  }
  return state.core->common_sm_target(state.stream_id(nullptr, DefaultStream::kLegacy), product, now_ns());
}

template <class Call>
int heuristic(Interposer& state, cublas_lt::Descriptor descriptor, const Product& product, const int* returned, Call call) {
  DescriptorUse use(state.driver.descriptors, descriptor, expected_target(state, product).sms);
  const int status = call();
  if (!use.targeted()) { return status; }
  if (status == 0 && *returned > 0) {
    state.driver.descriptors.chosen_for_target.store(true, std::memory_order_relaxed);
    return status;
  }
  use.put_back();
  return call();
}

}  // namespace
}  // namespace elbowroom::interposer::cuda

using namespace elbowroom::interposer::cuda;

int cublasLtMatmul(cublas_lt::Handle handle, cublas_lt::Descriptor descriptor, const void* alpha, const void* a,
                   cublas_lt::Layout layout_a, const void* b, cublas_lt::Layout layout_b, const void* beta, const void* c,
                   cublas_lt::Layout layout_c, void* d, cublas_lt::Layout layout_d, const cublas_lt::Algorithm* algorithm,
                   void* workspace, std::size_t workspace_bytes, cu::Stream stream) {
  const CallTarget<&cublasLtMatmul> target(__builtin_return_address(0));
  const auto call = [=] {
    return target(handle, descriptor, alpha, a, layout_a, b, layout_b, beta, c, layout_c, d, layout_d, algorithm, workspace,
                  workspace_bytes, stream);
  };
  const ProductScope scope;
  Interposer* state = target.followed() ? interposer_for(descriptor) : nullptr;
  if (state == nullptr) { return call(); }
  last_stream = state->stream_id(stream, DefaultStream::kLegacy);
  return make(*state, descriptor, product_for(*state, layout_a, layout_d), algorithm != nullptr, call);
}

int cublasLtMatmulAlgoGetHeuristic(cublas_lt::Handle handle, cublas_lt::Descriptor descriptor, cublas_lt::Layout layout_a,
                                   cublas_lt::Layout layout_b, cublas_lt::Layout layout_c, cublas_lt::Layout layout_d,
                                   cublas_lt::Preference preference, int requested, cublas_lt::HeuristicResult* results,
                                   int* returned) {
  const CallTarget<&cublasLtMatmulAlgoGetHeuristic> target(__builtin_return_address(0));
  const auto call = [=] {
    return target(handle, descriptor, layout_a, layout_b, layout_c, layout_d, preference, requested, results, returned);
  };
  const ProductScope scope;
  // A program that asks for several algorithms compares them itself and keeps the best, for products in no window as well.
  Interposer* state = target.followed() && requested == 1 && returned != nullptr ? interposer_for(descriptor) : nullptr;
  if (state == nullptr) { return call(); }
  return heuristic(*state, descriptor, product_for(*state, layout_a, layout_d), returned, call);
}
