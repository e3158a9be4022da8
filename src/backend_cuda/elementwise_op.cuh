#pragma once

#include "elbowroom/model/scenario.hpp"

namespace elbowroom::cuda {

template <class Real>
__device__ inline Real apply(ElementwiseOp op, Real x) {
  switch (op) {
    case ElementwiseOp::gelu:
      return Real(0.5) * x * (Real(1) + erf(x * Real(0.70710678118654752440)));
    case ElementwiseOp::relu:
      return x > Real(0) ? x : Real(0);
    case ElementwiseOp::copy:
      break;
  }
  return x;
}

}  // namespace elbowroom::cuda
