#include "elbowroom/report/result_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "elbowroom/energy/scheme_energy.hpp"
#include "elbowroom/plan/controls.hpp"
#include "elbowroom/report/result_document.hpp"
#include "elbowroom/trace/overlap_metrics.hpp"
#include "elbowroom/trace/summary.hpp"

namespace elbowroom {
namespace {

/// Never "-0.0": what rounds to zero is zero.
std::string fixed(double value, int decimals) {
  if (!std::isfinite(value)) { return std::string(kAbsentCell); }
  const double unit = std::pow(10.0, -decimals);
  return fmt::format("{:.{}f}", std::abs(value) < unit / 2 ? 0.0 : value, decimals);
}

std::string percent(const std::optional<double>& share, const TableScale& scale) {
  return share ? fixed(*share * 100.0, scale.share_decimals) : std::string(kAbsentCell);
}

std::string interval_cell(const Summary& time, const TableScale& scale) {
  return fmt::format("{}..{}", format_time(time.low, scale), format_time(time.high, scale));
}

std::string word_cell(const std::optional<std::string>& word) { return word.value_or(std::string(kAbsentCell)); }

using Cell = const SchemeResult&;
using Scale = const TableScale&;

/// A member of the plan as a number or "yes".
std::string plan_cell(const PlanMember& member, std::int64_t value) { return member.is_switch ? "yes" : fmt::format("{}", value); }

ResultColumn plan_column(const PlanMember& member, std::function<std::string(Cell, Scale)> cell) {
  const PlanColumn& column = member.column;
  const Presence presence = column.shown == PlanColumn::Shown::always ? Presence::always : Presence::when_used;
  return {fmt::format("plan.{}", member.name),
          column.upper,
          column.lower,
          member.unit,
          column.meaning,
          Alignment::right,
          presence,
          std::move(cell)};
}

void add_plan_columns(std::vector<ResultColumn>& columns) {
  for (const Control& control : controls()) {
    if (control.column.shown == PlanColumn::Shown::in_words) { continue; }
    columns.push_back(plan_column(control, [&control](Cell result, Scale) {
      const auto value = control.get(result.plan);
      return value ? plan_cell(control, *value) : std::string(kAbsentCell);
    }));
    if (control.consequence == nullptr) { continue; }
    columns.push_back(plan_column(*control.consequence, [&control](Cell result, Scale) {
      const std::int64_t value = control.consequence->get(result.plan).value_or(0);
      const bool follows = control.get(result.plan) || value != 0;
      return follows ? plan_cell(*control.consequence, value) : std::string(kAbsentCell);
    }));
  }
}

ResultColumn scheme_column() {
  return {"scheme",
          "scheme",
          "",
          "",
          "how compute and collective are scheduled",
          Alignment::left,
          Presence::always,
          [](Cell result, Scale) { return result.scheme; }};
}

/// Four digits: a span's ends are off by 0.3 % of it.
std::string energy_of_iteration(const SchemeEnergy& energy) { return fmt::format("{:.4g}", energy.per_iteration.joules.value); }

std::string energy_interval(const SchemeEnergy& energy) {
  return fmt::format("{:.4g}..{:.4g}", energy.per_iteration.low.value, energy.per_iteration.high.value);
}

std::string idle_energy(const SchemeEnergy& energy) { return fmt::format("{:.4g}", energy.idle.value); }

std::string energy_cell(Cell result, std::string (*words)(const SchemeEnergy&)) {
  return result.energy ? words(*result.energy) : std::string(kAbsentCell);
}

std::vector<ResultColumn> measured_columns() {
  return {ResultColumn{"time_us.median", "time", "", "us", "median time of all iterations", Alignment::right, Presence::always,
                       [](Cell result, Scale scale) { return format_time(result.time.median, scale); }},
          ResultColumn{"time_us.low..high", "interval", "", "us", "bootstrap interval of the median time", Alignment::right,
                       Presence::always, [](Cell result, Scale scale) { return interval_cell(result.time, scale); }},
          ResultColumn{"time_ratio", "ratio", "", "", "time / sequential time", Alignment::right, Presence::always,
                       [](Cell result, Scale scale) {
                         return result.metrics.time_ratio ? fixed(*result.metrics.time_ratio, scale.ratio_decimals)
                                                          : std::string(kAbsentCell);
                       }},
          ResultColumn{"reduction", "reduction", "", "%", "1 - time ratio", Alignment::right, Presence::always,
                       [](Cell result, Scale scale) { return percent(result.metrics.reduction, scale); }},
          ResultColumn{"overlap_rate", "overlap", "", "%",
                       "share of communication time during which computation runs on the same GPU", Alignment::right,
                       Presence::always, [](Cell result, Scale scale) { return percent(result.metrics.overlap_rate, scale); }},
          ResultColumn{"overlap_efficiency", "crit.", "path", "%", "overlap efficiency: (t_seq - t) / (t_seq - t_critical_path)",
                       Alignment::right, Presence::always,
                       [](Cell result, Scale scale) { return percent(result.metrics.overlap_efficiency, scale); }},
          ResultColumn{"compute_inflation", "comp.", "infl.", "%", "how much longer the compute kernels take than alone",
                       Alignment::right, Presence::always,
                       [](Cell result, Scale scale) { return percent(result.metrics.compute_inflation, scale); }},
          ResultColumn{"comm_inflation", "comm", "infl.", "%", "how much longer the collectives take than alone", Alignment::right,
                       Presence::always, [](Cell result, Scale scale) { return percent(result.metrics.comm_inflation, scale); }},
          ResultColumn{"energy.joules", "energy", "/ iter.", "J", "energy of one iteration, all GPUs together", Alignment::right,
                       Presence::when_used, [](Cell result, Scale) { return energy_cell(result, &energy_of_iteration); }},
          ResultColumn{"energy.low..high", "energy", "interval", "J", "interval of that energy", Alignment::right,
                       Presence::when_used, [](Cell result, Scale) { return energy_cell(result, &energy_interval); }},
          ResultColumn{"energy.idle_joules", "idle", "/ iter.", "J",
                       "energy that the GPUs would take in an iteration's time with nothing running; part of the energy",
                       Alignment::right, Presence::when_used, [](Cell result, Scale) { return energy_cell(result, &idle_energy); }},
          ResultColumn{"limited_by", "limited by", "", "", "resource that limits the compute kernel's residency", Alignment::left,
                       Presence::always, [](Cell result, Scale) { return word_cell(result.limited_by); }}};
}

std::vector<ResultColumn> all_columns() {
  std::vector<ResultColumn> columns{scheme_column()};
  add_plan_columns(columns);
  std::ranges::move(measured_columns(), std::back_inserter(columns));
  return columns;
}

/// So many that `longest` has at most `digits`, and two places before the point.
int decimals_for(double longest, int digits) {
  int decimals = digits - 2;
  // Rounding adds a digit before the point from half a last place below a power of ten on.
  for (double bound = 100; decimals > 0 && longest >= bound - std::pow(10.0, -decimals) / 2; bound *= 10) { --decimals; }
  return decimals;
}

}  // namespace

TableScale table_scale(const CaseResult& result, const std::optional<ModelWidth>& model) {
  Microseconds longest{0};
  for (const SchemeResult& scheme : result.results) { longest = std::max(longest, scheme.time.high); }
  TableScale scale;
  if (longest >= Microseconds(1000)) { scale = {"ms", 1000.0, 1}; }
  scale.decimals = decimals_for(longest.count() / scale.microseconds, model ? 3 : 5);
  if (model) {
    scale.ratio_decimals = 2;
    scale.share_decimals = 0;
  }
  return scale;
}

std::string format_time(Microseconds time, const TableScale& scale) {
  return fixed(time.count() / scale.microseconds, scale.decimals);
}

std::span<const ResultColumn> result_columns() {
  static const std::vector<ResultColumn> columns = all_columns();
  return columns;
}

std::vector<ResultColumn> columns_of(const CaseResult& result) {
  const auto shown = [&](const ResultColumn& column) {
    return column.presence == Presence::always || std::any_of(result.results.begin(), result.results.end(), [&](Cell scheme) {
             return column.cell(scheme, TableScale{}) != kAbsentCell;
           });
  };
  std::vector<ResultColumn> columns;
  std::ranges::copy_if(result_columns(), std::back_inserter(columns), shown);
  return columns;
}

std::string_view unit_of(const ResultColumn& column, const TableScale& scale) {
  return column.unit == "us" ? scale.unit : column.unit;
}

std::string heading_of(const ResultColumn& column) {
  if (column.lower.empty()) { return std::string(column.upper); }
  return fmt::format("{} {}", column.upper, column.lower);
}

}  // namespace elbowroom
