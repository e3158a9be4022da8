#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "unit/model/steps.hpp"

// A step with several kinds of operations on each side.
namespace elbowroom {

inline Operation collective_operation(std::string name, CollectiveOp op, std::int64_t mib, std::vector<Dependency> after = {}) {
  Operation operation = comm_operation(std::move(name), std::move(after));
  operation.what = Collective{op, mebibytes(mib), DataType::bf16, std::nullopt, std::nullopt};
  return operation;
}

inline Operation product_operation(std::string name, std::int64_t side, std::vector<Dependency> after = {}) {
  Operation operation = compute_operation(std::move(name), std::move(after));
  operation.what = LibraryGemm{side, side, side, DataType::bf16};
  return operation;
}

/// Two layers whose weights are gathered before and whose gradients are scattered behind: products, one elementwise kernel each.
inline Step two_layers() {
  Step step;
  step.name = "layers";
  step.operations = {collective_operation("gather1", CollectiveOp::all_gather, 64),
                     collective_operation("gather2", CollectiveOp::all_gather, 64),
                     product_operation("up1", 4096, {{0, false}}),
                     compute_operation("norm1", {{2, false}}),
                     product_operation("up2", 4096, {{1, false}, {3, false}}),
                     compute_operation("norm2", {{4, false}}),
                     collective_operation("scatter1", CollectiveOp::reduce_scatter, 96, {{2, false}}),
                     product_operation("head", 2048, {{5, false}})};
  return step;
}

}  // namespace elbowroom
