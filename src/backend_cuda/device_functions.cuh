#pragma once

#include <cuda_bf16.h>

#include <cstdint>

// Small device functions that kernels and their checks share, so that both mean the same data.
namespace elbowroom::cuda {

/// A well-mixed 32-bit hash of an index (finaliser of the splitmix family); equal on every device.
__device__ inline std::uint32_t hash_index(std::uint64_t index, std::uint64_t seed) {
  std::uint64_t x = index + 0x9E3779B97F4A7C15ull * (seed + 1);
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return static_cast<std::uint32_t>((x ^ (x >> 31)) >> 16);
}

/// Uniform in [-1, 1), on a grid of 2^-7 so that f32 and bf16 hold it exactly.
__device__ inline float uniform_value(std::uint64_t index, std::uint64_t seed) {
  return static_cast<float>(static_cast<int>(hash_index(index, seed) & 255u) - 128) * (1.0f / 128.0f);
}

template <class T>
__device__ inline T from_float(float value);
template <>
__device__ inline float from_float<float>(float value) {
  return value;
}
template <>
__device__ inline __nv_bfloat16 from_float<__nv_bfloat16>(float value) {
  return __float2bfloat16_rn(value);
}

__device__ inline float to_float(float value) { return value; }
__device__ inline float to_float(__nv_bfloat16 value) { return __bfloat162float(value); }

}  // namespace elbowroom::cuda
