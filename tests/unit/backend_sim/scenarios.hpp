#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "elbowroom/backend/registry.hpp"
#include "elbowroom/experiment/case_trials.hpp"
#include "elbowroom/plan/overlap_plan.hpp"

// Scenarios that the simulator's tests and its benchmark share.
namespace elbowroom {

inline std::unique_ptr<CaseTrials> simulated(const std::string& device, const Scenario& scenario) {
  BackendOptions options;
  options.device = device;
  return std::make_unique<CaseTrials>(*CaseTrials::prepare(**open_backend("sim", options), scenario));
}

inline OverlapPlan urgent(OverlapPlan plan = {}) {
  plan.priority = true;
  return plan;
}

/// 8 iterations, or one where a pair is asked for.
inline Scenario gelu_all_reduce(Bytes bytes, std::optional<Blocks> comm_blocks = {}, Pattern pattern = Pattern::pipeline) {
  Scenario scenario;
  scenario.name = "gelu-ar";
  scenario.iterations = pattern == Pattern::pair ? 1 : 8;
  scenario.pattern = pattern;
  scenario.compute = Elementwise{ElementwiseOp::gelu, DataType::f32, bytes};
  scenario.collective.bytes = mebibytes(512);
  scenario.collective.comm_blocks = comm_blocks;
  return scenario;
}

enum class Bound { compute, memory };

/// A cell of the paper's sweep: 4 GPUs, 64x64 tiles, 896 MiB; no grid: one block per tile.
inline Scenario paper_cell(Bound bound, CollectiveOp op, int tile_k, std::optional<GridShape> grid) {
  Scenario scenario;
  scenario.name = "cell";
  scenario.gpus = 4;
  scenario.iterations = 3;
  scenario.compute = TiledGemm{8'192, bound == Bound::compute ? 8'192 : 57'344, 8'192, 64, 64, tile_k, grid, DataType::bf16};
  scenario.collective.op = op;
  scenario.collective.bytes = mebibytes(896);
  return scenario;
}

}  // namespace elbowroom
