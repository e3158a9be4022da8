#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

// What the common text of the kernels (backend_gpu/kernels) stands on, in the words of CUDA.
namespace elbowroom::cuda {

using Bf16 = __nv_bfloat16;
using F16 = __half;
using E4m3 = __nv_fp8_e4m3;

__device__ inline float to_float(float value) { return value; }
__device__ inline float to_float(Bf16 value) { return __bfloat162float(value); }
__device__ inline float to_float(F16 value) { return __half2float(value); }
__device__ inline float to_float(E4m3 value) { return static_cast<float>(value); }

template <class T>
__device__ inline T from_float(float value);
template <>
__device__ inline float from_float<float>(float value) {
  return value;
}
template <>
__device__ inline Bf16 from_float<Bf16>(float value) {
  return __float2bfloat16_rn(value);
}
template <>
__device__ inline F16 from_float<F16>(float value) {
  return __float2half_rn(value);
}
template <>
__device__ inline E4m3 from_float<E4m3>(float value) {
  return E4m3(value);
}

template <class T>
struct Elements {
  static constexpr int kCount = 16 / sizeof(T);
  union Vector {
    uint4 bits;
    T values[kCount];
    __device__ Vector() {}
    __device__ Vector(const Vector& from) : bits(from.bits) {}
    __device__ Vector& operator=(const Vector& from) {
      bits = from.bits;
      return *this;
    }
  };
  __device__ static float get(const Vector& vector, int at) { return to_float(vector.values[at]); }
  __device__ static void set(Vector& vector, int at, float value) { vector.values[at] = from_float<T>(value); }
};

}  // namespace elbowroom::cuda
