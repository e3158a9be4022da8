#pragma once

#include <string>
#include <utility>
#include <vector>

#include "elbowroom/model/step.hpp"

// Operations that tests of steps and programs share.
namespace elbowroom {

inline Operation compute_operation(std::string name, std::vector<Dependency> after = {}) {
  Operation operation;
  operation.name = std::move(name);
  operation.what = Elementwise{ElementwiseOp::gelu, DataType::f32, mebibytes(64)};
  operation.after = std::move(after);
  return operation;
}

inline Operation comm_operation(std::string name, std::vector<Dependency> after = {}) {
  Operation operation;
  operation.name = std::move(name);
  Collective collective;
  collective.bytes = mebibytes(64);
  operation.what = collective;
  operation.after = std::move(after);
  return operation;
}

}  // namespace elbowroom
