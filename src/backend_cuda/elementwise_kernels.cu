#include <cstdint>

#include "backend_cuda/device_functions.cuh"
#include "backend_cuda/elementwise_kernels.hpp"
#include "backend_cuda/elementwise_op.cuh"

namespace elbowroom::cuda {
namespace {

constexpr int kThreads = 256;

template <class T, ElementwiseOp Op>
__global__ void __launch_bounds__(kThreads) elementwise_kernel(const void* in, void* out, std::int64_t vectors) {
  constexpr int kPerVector = 16 / sizeof(T);
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (at >= vectors) return;
  union Vector {
    uint4 bits;
    T values[kPerVector];
    __device__ Vector() {}
  } data;
  data.bits = static_cast<const uint4*>(in)[at];
#pragma unroll
  for (int i = 0; i < kPerVector; ++i) data.values[i] = from_float<T>(apply<float>(Op, to_float(data.values[i])));
  static_cast<uint4*>(out)[at] = data.bits;
}

template <class T, ElementwiseOp Op>
ElementwiseVariant variant(DataType dtype) {
  return {Op, dtype, Threads(kThreads), reinterpret_cast<const void*>(&elementwise_kernel<T, Op>)};
}

}  // namespace

const std::vector<ElementwiseVariant>& elementwise_variants() {
  static const std::vector<ElementwiseVariant> variants{
      variant<float, ElementwiseOp::gelu>(DataType::f32),          variant<float, ElementwiseOp::relu>(DataType::f32),
      variant<float, ElementwiseOp::copy>(DataType::f32),          variant<__nv_bfloat16, ElementwiseOp::gelu>(DataType::bf16),
      variant<__nv_bfloat16, ElementwiseOp::relu>(DataType::bf16), variant<__nv_bfloat16, ElementwiseOp::copy>(DataType::bf16),
  };
  return variants;
}

}  // namespace elbowroom::cuda
