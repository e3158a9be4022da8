#include "report/case_lines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "elbowroom/energy/reading.hpp"
#include "elbowroom/energy/scheme_energy.hpp"
#include "elbowroom/plan/controls.hpp"
#include "elbowroom/plan/hardware_limit.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "elbowroom/report/result_document.hpp"
#include "elbowroom/trace/summary.hpp"

namespace elbowroom::detail {
namespace {

std::string summary_words(const std::optional<Summary>& summary, const TableScale& scale) {
  if (!summary) { return std::string(kAbsentCell); }
  return fmt::format("{} {} ({}..{})", format_time(summary->median, scale), scale.unit, format_time(summary->low, scale),
                     format_time(summary->high, scale));
}

/// "41..44" of what the GPUs say; "?" where one says nothing.
std::string range_words(const std::vector<GpuState>& states, std::optional<int> GpuState::* member) {
  std::vector<int> values;
  for (const GpuState& state : states) {
    if (!(state.*member)) { return "?"; }
    values.push_back(*(state.*member));
  }
  const auto [least, most] = std::ranges::minmax_element(values);
  return *least == *most ? fmt::format("{}", *least) : fmt::format("{}..{}", *least, *most);
}

std::string state_words(const SchemeResult& result) {
  const SchemeEnergy& energy = *result.energy;
  const std::string fell =
      energy.below_greatest_clock.empty() ? "" : fmt::format("; clocks fell by {}", fmt::join(energy.below_greatest_clock, ", "));
  const std::optional<double>& agreement = energy.per_iteration.counter_over_power;
  const std::string power = agreement ? fmt::format("; counter / power samples {:.3f}", *agreement) : "";
  return fmt::format("energy of {}: {} -> {} C, {} -> {} MHz{}{}", result.scheme, range_words(energy.before, &GpuState::celsius),
                     range_words(energy.after, &GpuState::celsius), range_words(energy.before, &GpuState::sm_mhz),
                     range_words(energy.after, &GpuState::sm_mhz), fell, power);
}

std::string critical_path_words(const CaseResult& result, const TableScale& scale) {
  if (!result.critical_path) { return std::string(kAbsentCell); }
  const bool shared = result.results.empty() || std::ranges::any_of(result.results, [](const SchemeResult& one) {
                        return one.metrics.overlap_efficiency.has_value();
                      });
  return fmt::format("{} {}{}", format_time(*result.critical_path, scale), scale.unit, shared ? "" : kNoOverlap);
}

}  // namespace

std::string alone_line(const CaseResult& result, const TableScale& scale) {
  return fmt::format("alone: compute {}, comm {}; critical path {}", summary_words(result.compute_alone, scale),
                     summary_words(result.comm_alone, scale), critical_path_words(result, scale));
}

std::string limit_line(const HardwareLimit& limit, const TableScale& scale) {
  return fmt::format("hardware limit {} {}: {}", format_time(limit.time, scale), scale.unit, in_words(limit));
}

std::string statistics_line(const CaseResult& result, const std::optional<ModelWidth>& model) {
  if (result.results.empty()) { return "no scheme ran"; }
  const auto [fewest, most] = std::minmax_element(result.results.begin(), result.results.end(),
                                                  [](const auto& a, const auto& b) { return a.time.trials < b.time.trials; });
  const std::string trials = fewest->time.trials == most->time.trials
                                 ? fmt::format("{}", most->time.trials)
                                 : fmt::format("{} to {}", fewest->time.trials, most->time.trials);
  const std::string medians = fmt::format("medians of {} {}", trials, most->time.trials == 1 ? "trial" : "trials");
  if (model) { return fmt::format("{}, intervals of the model: {:g} % to either side", medians, model->width * 100); }
  return fmt::format("{}, {:g} % bootstrap intervals", medians, result.results.front().time.confidence * 100.0);
}

std::vector<std::string> energy_lines(const CaseResult& result) {
  std::vector<std::string> lines;
  if (result.no_energy) { lines.push_back(fmt::format("no energy: {}", *result.no_energy)); }
  for (const SchemeResult& scheme : result.results) {
    if (!scheme.energy) { continue; }
    if (lines.empty()) {
      lines.push_back(fmt::format("energy: {} counter, moves every {:.3g} ms; spans of {:.3g} s, whose ends are off by {:.2g} %",
                                  scheme.energy->counter, scheme.energy->period.count() / 1e3, scheme.energy->span.count() / 1e6,
                                  100 * scheme.energy->per_iteration.resolution));
    }
    lines.push_back(state_words(scheme));
  }
  return lines;
}

std::string rare_controls(const SchemeResult& result) {
  OverlapPlan rare;
  for (const Control& control : controls()) {
    if (control.column.shown == PlanColumn::Shown::in_words) { control.put(rare, control.get(result.plan)); }
  }
  // The note on a plan that was typed says all of it.
  const bool noted = result.note && result.note->find(in_words(result.plan)) != std::string::npos;
  const bool said = noted || rare == OverlapPlan{};
  return said ? "" : in_words(rare);
}

}  // namespace elbowroom::detail
