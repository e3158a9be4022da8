#include "report/case_lines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "elbowroom/plan/controls.hpp"

namespace elbowroom::detail {
namespace {

std::string summary_words(const std::optional<Summary>& summary, const TableScale& scale) {
  if (!summary) return std::string(kAbsentCell);
  return fmt::format("{} {} ({}..{})", format_time(summary->median, scale), scale.unit, format_time(summary->low, scale),
                     format_time(summary->high, scale));
}

}  // namespace

std::string alone_line(const CaseResult& result, const TableScale& scale) {
  const std::string critical_path =
      result.critical_path ? fmt::format("{} {}", format_time(*result.critical_path, scale), scale.unit) : std::string(kAbsentCell);
  return fmt::format("alone: compute {}, comm {}; critical path {}", summary_words(result.compute_alone, scale),
                     summary_words(result.comm_alone, scale), critical_path);
}

std::string limit_line(const HardwareLimit& limit, const TableScale& scale) {
  return fmt::format("hardware limit {} {}: {}", format_time(limit.time, scale), scale.unit, in_words(limit));
}

std::string statistics_line(const CaseResult& result, const std::optional<ModelWidth>& model) {
  if (result.results.empty()) return "no scheme ran";
  const auto [fewest, most] = std::minmax_element(result.results.begin(), result.results.end(),
                                                  [](const auto& a, const auto& b) { return a.time.trials < b.time.trials; });
  const std::string trials = fewest->time.trials == most->time.trials
                                 ? fmt::format("{}", most->time.trials)
                                 : fmt::format("{} to {}", fewest->time.trials, most->time.trials);
  const std::string medians = fmt::format("medians of {} {}", trials, most->time.trials == 1 ? "trial" : "trials");
  if (model && !model->fitted())
    return fmt::format("{}, intervals of the model: {:g} % to either side", medians, model->width * 100);
  return fmt::format("{}, {:g} % bootstrap intervals", medians, result.results.front().time.confidence * 100.0);
}

std::string rare_controls(const SchemeResult& result) {
  OverlapPlan rare;
  for (const Control& control : controls()) {
    if (control.column.shown == PlanColumn::Shown::in_words) control.put(rare, control.get(result.plan));
  }
  // The note on a plan that was typed says all of it.
  const bool said = rare == OverlapPlan{} || result.note.find(in_words(result.plan)) != std::string::npos;
  return said ? "" : in_words(rare);
}

}  // namespace elbowroom::detail
