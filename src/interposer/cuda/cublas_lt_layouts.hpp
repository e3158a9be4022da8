#pragma once

#include "interposer/cuda/cublas_lt_abi.hpp"
#include "interposer/process/routes.hpp"
#include "run/product.hpp"

namespace elbowroom::interposer::cuda {

/// The product of `a` and something that has the layout of `d`, by what the library says of the two. Of class 0 where
/// it says nothing. Costs six calls of the library, none of which asks the driver.
run::Product product_of_layouts(cublas_lt::Layout a, cublas_lt::Layout d);

}  // namespace elbowroom::interposer::cuda
