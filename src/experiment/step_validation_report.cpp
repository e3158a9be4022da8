#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "elbowroom/experiment/step_validation.hpp"
#include "report/schemas.hpp"

namespace elbowroom {
namespace {

double milliseconds_of(Microseconds time) { return time.count() / 1000; }

std::string line_of_step(const StepPrediction& row) {
  const std::string begin =
      fmt::format("  {:>5} {:>9.2f} {:<18} {:>11.1f}", row.line, row.billions, row.ranks, milliseconds_of(row.measured));
  if (!row.predicted) { return fmt::format("{}  {}\n", begin, row.refusal); }
  const IterationTime& time = *row.predicted;
  return fmt::format("{} {:>11.1f} {:>+7.1f} {:>11.1f} {:>10.1f} {:>10.1f}\n", begin, milliseconds_of(time.total()),
                     100 * (time.total() / row.measured - 1), milliseconds_of(time.pipeline), milliseconds_of(time.gradients),
                     milliseconds_of(time.optimizer));
}

}  // namespace

std::string to_table(const StepValidation& validation, std::string_view source, const MachineSpec& machine) {
  std::string text =
      fmt::format("# elbowroom: iterations of Megatron's GPT simulated for {} against measured rows of {}\n", machine.name, source);
  text += fmt::format("# {:>4} {:>9} {:<18} {:>11} {:>11} {:>7} {:>11} {:>10} {:>10}\n", "line", "billions", "ranks", "measured",
                      "simulated", "error", "pipeline", "gradients", "optimizer");
  text += fmt::format("# {:>4} {:>9} {:<18} {:>11} {:>11} {:>7} {:>11} {:>10} {:>10}\n", "", "", "", "(ms)", "(ms)", "(%)", "(ms)",
                      "(ms)", "(ms)");
  for (const StepPrediction& row : validation.rows) { text += line_of_step(row); }
  text += fmt::format("# {} rows, {} of them not described\n", validation.rows.size(), validation.refused);
  text += fmt::format("# {:<28} {:>5} {:>9} {:>9} {:>9} {:>9}\n", "errors (%)", "rows", "mean", "median", "p90", "worst");
  for (const StepErrors& errors : validation.errors) {
    text += fmt::format("# {:<28} {:>5} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f}\n", errors.of, errors.rows, 100 * errors.mean,
                        100 * errors.median, 100 * errors.p90, 100 * errors.worst);
  }
  return text;
}

std::string to_json(const StepValidation& validation, const MachineSpec& machine) {
  nlohmann::ordered_json document;
  document["schema"] = kStepValidationSchema;
  document["machine"] = machine.name;
  document["device"] = machine.device;
  document["rows"] = validation.rows.size();
  document["not_described"] = validation.refused;
  for (const StepErrors& errors : validation.errors) {
    document["errors"].push_back({{"of", errors.of},
                                  {"rows", errors.rows},
                                  {"mean", errors.mean},
                                  {"median", errors.median},
                                  {"p90", errors.p90},
                                  {"worst", errors.worst}});
  }
  for (const StepPrediction& row : validation.rows) {
    nlohmann::ordered_json one{{"line", row.line}, {"measured_us", row.measured.count()}};
    if (row.predicted) {
      one["predicted_us"] = row.predicted->total().count();
      one["pipeline_us"] = row.predicted->pipeline.count();
      one["gradients_us"] = row.predicted->gradients.count();
      one["optimizer_us"] = row.predicted->optimizer.count();
    } else {
      one["refused"] = row.refusal;
    }
    document["predictions"].push_back(std::move(one));
  }
  return document.dump(2) + "\n";
}

}  // namespace elbowroom
