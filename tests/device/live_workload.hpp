#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "elbowroom/experiment/case_trials.hpp"
#include "elbowroom/model/scenario.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "elbowroom/plan/program.hpp"
#include "elbowroom/trace/timeline.hpp"

namespace elbowroom::testing {

/// Three iterations of `compute` beside 24 MiB of `op`.
inline Scenario small(Compute compute, CollectiveOp op, int gpus) {
  return {"test", gpus, 3, Pattern::pipeline, std::move(compute), {op, mebibytes(24), DataType::bf16, std::nullopt, std::nullopt}};
}

/// Absent where the test is over: skipped without a recorder, failed otherwise.
inline std::optional<Timeline> recorded(CaseTrials& workload, Order order, const OverlapPlan& plan) {
  Result<Timeline> timeline = workload.record(order, plan);
  if (timeline) { return std::move(*timeline); }
  if (timeline.error().kind == ErrorKind::unavailable) {
    [&] { GTEST_SKIP() << timeline.error().message; }();
  } else {
    ADD_FAILURE() << timeline.error().message;
  }
  return std::nullopt;
}

}  // namespace elbowroom::testing
