#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/base/result.hpp"
#include "elbowroom/base/time.hpp"
#include "elbowroom/steps/transformer.hpp"

namespace elbowroom::detail {

/// An iteration of Megatron's GPT that somebody measured.
struct MeasuredStep {
  int line = 0;  ///< of the file, from 1
  int gpus = 0;
  TransformerStep request;
  Microseconds time{0};
  std::string refusal;  ///< why the row describes no iteration; empty: it does
};

/// Rows of a CSV with the columns gpus, global_batch, micro_batch, hidden, heads, layers, sequence, tp, dp, pp, iteration_ms in any
/// order, beside others. `invalid_input` names `source`, line and field of what is no number.
Result<std::vector<MeasuredStep>> parse_measured_steps(std::string_view csv, std::string_view source);

}  // namespace elbowroom::detail
