#pragma once

#include "elbowroom/plan/capabilities.hpp"
#include "elbowroom/plan/control_site.hpp"
#include "elbowroom/plan/controls.hpp"
#include "unit/plan/footprints.hpp"

namespace elbowroom::testing {

inline Scenario scenario_of(Compute compute, CollectiveOp op = CollectiveOp::all_reduce) {
  Scenario scenario;
  scenario.name = "site";
  scenario.iterations = 8;
  scenario.compute = std::move(compute);
  scenario.collective = {op, mebibytes(512), DataType::bf16, std::nullopt, std::nullopt};
  return scenario;
}

/// A pipeline of eight on `on`: an elementwise kernel of eight blocks per SM, or a library's GEMM.
inline ControlSite elementwise_site(std::string_view on = "h200", CollectiveOp op = CollectiveOp::all_reduce) {
  return *control_site(scenario_of(Elementwise{ElementwiseOp::gelu, DataType::f32, mebibytes(4096)}, op), device(on), kEightBlocks,
                       std::nullopt, capabilities_of(device(on)));
}

/// Of the elementwise kernel once.
inline ControlSite one_iteration(Pattern pattern) {
  Scenario scenario = scenario_of(Elementwise{ElementwiseOp::gelu, DataType::f32, mebibytes(4096)});
  scenario.pattern = pattern;
  scenario.iterations = 1;
  return *control_site(scenario, device("h200"), kEightBlocks, std::nullopt, capabilities_of(device("h200")));
}

inline ControlSite library_site(std::string_view on = "h200", CollectiveOp op = CollectiveOp::all_reduce) {
  return *control_site(scenario_of(LibraryGemm{8192, 8192, 8192, DataType::bf16}, op), device(on), std::nullopt, std::nullopt,
                       capabilities_of(device(on)));
}

}  // namespace elbowroom::testing
