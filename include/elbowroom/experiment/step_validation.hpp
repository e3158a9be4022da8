#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/backend/backend.hpp"
#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/experiment/iteration.hpp"

namespace elbowroom {

/// A measured iteration and what is predicted for it.
struct StepPrediction {
  int line = 0;       ///< of the file
  std::string ranks;  ///< "tp 8 dp 4 pp 16"
  bool several_hosts = false;
  bool pipelined = false;
  double billions = 0;  ///< parameters
  Microseconds measured{0};
  std::optional<IterationTime> predicted;  ///< absent: `refusal` says why
  std::string refusal;

  /// |predicted / measured - 1|; there is a prediction.
  [[nodiscard]] double error() const;
};

/// Errors of the rows that something was predicted for.
struct StepErrors {
  std::string of;
  int rows = 0;
  double mean = 0;
  double median = 0;
  double p90 = 0;  ///< nearest rank
  double worst = 0;
};

struct StepValidation {
  std::vector<StepPrediction> rows;
  int refused = 0;
  std::vector<StepErrors> errors;  ///< of all, then of those on one host, on several, of pipelines, by size
};

/// Compares `backend` and `machine` with iterations of Megatron's GPT (vocabulary 50,257, full recomputation, 1F1B). `csv` has the
/// columns gpus, global_batch, micro_batch, hidden, heads, layers, sequence, tp, dp, pp, iteration_ms. `invalid_input` names
/// `source`, line and field of what is no number. Rows that describe no iteration are refused one by one.
ELBOWROOM_API Result<StepValidation> validate_steps(std::string_view csv, std::string_view source, Backend& backend,
                                                    const MachineSpec& machine);

/// A line for each row and the errors; every line but the rows' begins with '#'.
ELBOWROOM_API std::string to_table(const StepValidation& validation, std::string_view source, const MachineSpec& machine);

/// An `elbowroom.step_validation/1` document.
ELBOWROOM_API std::string to_json(const StepValidation& validation, const MachineSpec& machine);

}  // namespace elbowroom
