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

/// Two stages of a pipeline on two ranks: "front" computes, "act" goes to the other rank, "back" computes there.
inline Step two_stages() {
  Step step;
  step.ranks = 2;
  step.mesh = {{"pp", 2}};
  step.operations = {compute_operation("front"), comm_operation("act", {{0, false}}), compute_operation("back", {{1, false}})};
  step.operations[0].at = {{0, 0}};
  step.operations[2].at = {{0, 1}};
  step.operations[1].along = {0};
  step.operations[1].what = SendRecv{mebibytes(16), DataType::bf16, 0, 1};
  return step;
}

}  // namespace elbowroom
