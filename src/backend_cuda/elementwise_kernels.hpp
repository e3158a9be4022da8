#pragma once

#include <vector>

#include "elbowroom/base/quantities.hpp"
#include "elbowroom/model/scenario.hpp"

namespace elbowroom::cuda {

/// One thread reads and writes 16 bytes; no shared memory. The kernel takes (const void* in, void* out, int64 vectors of 16 bytes).
struct ElementwiseVariant {
  ElementwiseOp op = ElementwiseOp::gelu;
  DataType dtype = DataType::f32;
  Threads threads;
  const void* function = nullptr;
};

const std::vector<ElementwiseVariant>& elementwise_variants();

}  // namespace elbowroom::cuda
