#include "fake_cublas_lt.hpp"

#include <cstring>
#include <utility>

#include "fake_cuda.hpp"
#include "interposer/cuda/hooked_functions.hpp"

// A stand-in for libcublasLt.so.13: an algorithm is a number of SMs, and a product launches as many blocks. The second number of
// the grid is what the product read from the descriptor.

namespace {

std::uint64_t sms_of(cublas_lt::Descriptor descriptor) {
  return descriptor->target == 0 ? kAllSms : static_cast<std::uint64_t>(descriptor->target);
}

}  // namespace

int cublasLtMatmul(cublas_lt::Handle, cublas_lt::Descriptor descriptor, const void*, const void*, cublas_lt::Layout, const void*,
                   cublas_lt::Layout, const void*, const void*, cublas_lt::Layout, void*, cublas_lt::Layout,
                   const cublas_lt::Algorithm* algorithm, void*, std::size_t, cu::Stream stream) {
  static const cu::Function kernel = fake_function("nvjet_sm90_lt", 168, 0);
  if (auto* during = std::exchange(descriptor->during, nullptr)) { during(); }
  if (descriptor->status != 0) { return descriptor->status; }
  const std::uint64_t seen = sms_of(descriptor);
  const std::uint64_t chosen = algorithm == nullptr ? seen : algorithm->sms;
  if (descriptor->needs_match && chosen != seen) { return cublas_lt::kInvalidValue; }
  return cuLaunchKernel(kernel, static_cast<unsigned>(chosen), static_cast<unsigned>(seen), 1, 384, 1, 1, 0, stream, nullptr,
                        nullptr);
}

int cublasLtMatmulAlgoGetHeuristic(cublas_lt::Handle, cublas_lt::Descriptor descriptor, cublas_lt::Layout, cublas_lt::Layout,
                                   cublas_lt::Layout, cublas_lt::Layout, cublas_lt::Preference, int requested,
                                   cublas_lt::HeuristicResult* results, int* returned) {
  const bool none = descriptor->no_algorithm && descriptor->target != 0;
  *returned = none ? 0 : requested;
  for (int i = 0; i < *returned; ++i) { results[i].algorithm.sms = sms_of(descriptor); }
  return none ? cublas_lt::kNotSupported : 0;
}

#pragma GCC visibility push(default)
extern "C" {
int cublasLtMatrixLayoutGetAttribute(cublas_lt::Layout layout, int attribute, void* value, std::size_t size, std::size_t* written) {
  const auto answer = [&](const auto& member) {
    if (size != sizeof member) { return cublas_lt::kInvalidValue; }
    std::memcpy(value, &member, size);
    *written = size;
    return 0;
  };
  switch (attribute) {
    case cublas_lt::kLayoutType:
      return answer(layout->type);
    case cublas_lt::kLayoutRows:
      return answer(layout->rows);
    case cublas_lt::kLayoutColumns:
      return answer(layout->columns);
    case cublas_lt::kLayoutBatches:
      return answer(layout->batches);
    default:
      return cublas_lt::kInvalidValue;
  }
}
int cublasLtMatmulDescGetAttribute(cublas_lt::Descriptor descriptor, int attribute, void* value, std::size_t size,
                                   std::size_t* written) {
  if (attribute != cublas_lt::kSmCountTarget || size != sizeof(std::int32_t)) { return cublas_lt::kInvalidValue; }
  *static_cast<std::int32_t*>(value) = descriptor->target;
  *written = size;
  return 0;
}
int cublasLtMatmulDescSetAttribute(cublas_lt::Descriptor descriptor, int attribute, const void* value, std::size_t size) {
  if (attribute != cublas_lt::kSmCountTarget || size != sizeof(std::int32_t)) { return cublas_lt::kInvalidValue; }
  descriptor->target = *static_cast<const std::int32_t*>(value);
  ++descriptor->writes;
  return 0;
}
}
#pragma GCC visibility pop
