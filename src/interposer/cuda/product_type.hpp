#pragma once

#include "run/product.hpp"

namespace elbowroom::interposer::cuda {

/// A cudaDataType of library_types.h as rules name it.
constexpr run::ProductType product_type(int cuda_type) {
  constexpr int real_32f = 0;
  constexpr int real_16bf = 14;
  if (cuda_type == real_32f) { return run::ProductType::f32; }
  return cuda_type == real_16bf ? run::ProductType::bf16 : run::ProductType::other;
}

}  // namespace elbowroom::interposer::cuda
