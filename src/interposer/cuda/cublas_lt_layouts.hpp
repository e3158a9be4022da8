#pragma once

#include "interposer/core/rules.hpp"
#include "interposer/cuda/cublas_lt_abi.hpp"

namespace elbowroom::interposer::cuda {

/// The product of `a` and something that has the layout of `d`, by what the library says of the two; of class 0 where it says nothing.
/// Costs six calls of the library, none of which asks the driver.
Product product_of_layouts(cublas_lt::Layout a, cublas_lt::Layout d);

}  // namespace elbowroom::interposer::cuda
