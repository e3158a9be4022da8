#include "elbowroom/report/result_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace elbowroom {
namespace {

/// Never "-0.0": what rounds to zero is zero.
std::string fixed(double value, int decimals) {
  if (!std::isfinite(value)) return std::string(kAbsentCell);
  const double unit = std::pow(10.0, -decimals);
  return fmt::format("{:.{}f}", std::abs(value) < unit / 2 ? 0.0 : value, decimals);
}

std::string percent(const std::optional<double>& share, const TableScale& scale) {
  return share ? fixed(*share * 100.0, scale.share_decimals) : std::string(kAbsentCell);
}

template <class Unit>
std::string number(const std::optional<Quantity<Unit>>& value) {
  return value ? fmt::format("{}", value->count()) : std::string(kAbsentCell);
}

std::string yes(bool on) { return on ? "yes" : std::string(kAbsentCell); }

std::string pad_cell(const OverlapPlan& plan) {
  const bool shaped = plan.blocks_per_sm.has_value() || plan.pad != Bytes(0);
  return shaped ? fmt::format("{}", plan.pad.count()) : std::string(kAbsentCell);
}

std::string interval_cell(const Summary& time, const TableScale& scale) {
  return fmt::format("{}..{}", format_time(time.low, scale), format_time(time.high, scale));
}

std::string word_cell(const std::string& word) { return word.empty() ? std::string(kAbsentCell) : word; }

using Cell = const SchemeResult&;
using Scale = const TableScale&;

constexpr std::array kColumns{
    ResultColumn{"scheme", "scheme", "", "", "how compute and collective are scheduled", Alignment::left, Presence::always,
                 [](Cell result, Scale) { return result.scheme; }},
    ResultColumn{"plan.blocks_per_sm", "blocks", "per SM", "", "residency to which the compute kernel is capped", Alignment::right,
                 Presence::always, [](Cell result, Scale) { return number(result.plan.blocks_per_sm); }},
    ResultColumn{"plan.pad_bytes", "pad", "", "B", "dynamic shared memory added to every compute block", Alignment::right,
                 Presence::always, [](Cell result, Scale) { return pad_cell(result.plan); }},
    ResultColumn{"plan.priority", "prio", "", "", "communication stream at the device's greatest priority", Alignment::right,
                 Presence::always, [](Cell result, Scale) { return yes(result.plan.priority); }},
    ResultColumn{"plan.launch_gate", "gate", "", "", "compute waits until the collective's blocks are resident", Alignment::right,
                 Presence::when_used, [](Cell result, Scale) { return yes(result.plan.launch_gate); }},
    ResultColumn{"plan.comm_blocks", "comm", "blocks", "", "block budget that the plan gives the collective", Alignment::right,
                 Presence::always, [](Cell result, Scale) { return number(result.plan.comm_blocks); }},
    ResultColumn{"plan.cluster", "clus-", "ter", "", "cluster size that the plan gives the collective's kernel", Alignment::right,
                 Presence::always,
                 [](Cell result, Scale) {
                   return result.plan.cluster ? fmt::format("{}", *result.plan.cluster) : std::string(kAbsentCell);
                 }},
    ResultColumn{"plan.sm_target", "SMs", "", "", "SM count that a library GEMM sizes itself for", Alignment::right,
                 Presence::when_used, [](Cell result, Scale) { return number(result.plan.sm_target); }},
    ResultColumn{"plan.windows_only", "win-", "dows", "", "the plan acts only where both sides can run at once", Alignment::right,
                 Presence::when_used, [](Cell result, Scale) { return yes(result.plan.windows_only); }},
    ResultColumn{"time_us.median", "time", "", "us", "median time of all iterations", Alignment::right, Presence::always,
                 [](Cell result, Scale scale) { return format_time(result.time.median, scale); }},
    ResultColumn{"time_us.low..high", "interval", "", "us", "bootstrap interval of the median time", Alignment::right,
                 Presence::always, [](Cell result, Scale scale) { return interval_cell(result.time, scale); }},
    ResultColumn{"time_ratio", "ratio", "", "", "time / sequential time", Alignment::right, Presence::always,
                 [](Cell result, Scale scale) {
                   return result.metrics.time_ratio ? fixed(*result.metrics.time_ratio, scale.ratio_decimals)
                                                    : std::string(kAbsentCell);
                 }},
    ResultColumn{"reduction", "reduc-", "tion", "%", "1 - time ratio", Alignment::right, Presence::always,
                 [](Cell result, Scale scale) { return percent(result.metrics.reduction, scale); }},
    ResultColumn{"overlap_rate", "over-", "lap", "%", "share of communication time during which computation runs on the same GPU",
                 Alignment::right, Presence::always,
                 [](Cell result, Scale scale) { return percent(result.metrics.overlap_rate, scale); }},
    ResultColumn{"overlap_efficiency", "crit.", "path", "%", "overlap efficiency: (t_seq - t) / (t_seq - t_critical_path)",
                 Alignment::right, Presence::always,
                 [](Cell result, Scale scale) { return percent(result.metrics.overlap_efficiency, scale); }},
    ResultColumn{"compute_inflation", "comp.", "infl.", "%", "how much longer the compute kernels take than alone",
                 Alignment::right, Presence::always,
                 [](Cell result, Scale scale) { return percent(result.metrics.compute_inflation, scale); }},
    ResultColumn{"comm_inflation", "comm", "infl.", "%", "how much longer the collectives take than alone", Alignment::right,
                 Presence::always, [](Cell result, Scale scale) { return percent(result.metrics.comm_inflation, scale); }},
    ResultColumn{"limited_by", "limited by", "", "", "resource that limits the compute kernel's residency", Alignment::left,
                 Presence::always, [](Cell result, Scale) { return word_cell(result.limited_by); }},
};

/// So many that `longest` has at most `digits`, and two places before the point.
int decimals_for(double longest, int digits) {
  int decimals = digits - 2;
  // Rounding adds a digit before the point from half a last place below a power of ten on.
  for (double bound = 100; decimals > 0 && longest >= bound - std::pow(10.0, -decimals) / 2; bound *= 10) --decimals;
  return decimals;
}

}  // namespace

TableScale table_scale(const CaseResult& result, const std::optional<ModelWidth>& model) {
  Microseconds longest{0};
  for (const SchemeResult& scheme : result.results) longest = std::max(longest, scheme.time.high);
  TableScale scale;
  if (longest >= Microseconds(1000)) scale = {"ms", 1000.0, 1};
  const bool coarse = model && !model->fitted();
  scale.decimals = decimals_for(longest.count() / scale.microseconds, coarse ? 3 : 5);
  if (coarse) {
    scale.ratio_decimals = 2;
    scale.share_decimals = 0;
  }
  return scale;
}

std::string format_time(Microseconds time, const TableScale& scale) {
  return fixed(time.count() / scale.microseconds, scale.decimals);
}

std::span<const ResultColumn> result_columns() { return kColumns; }

std::vector<ResultColumn> columns_of(const CaseResult& result) {
  const auto shown = [&](const ResultColumn& column) {
    return column.presence == Presence::always || std::any_of(result.results.begin(), result.results.end(), [&](Cell scheme) {
             return column.cell(scheme, TableScale{}) != kAbsentCell;
           });
  };
  std::vector<ResultColumn> columns;
  std::copy_if(kColumns.begin(), kColumns.end(), std::back_inserter(columns), shown);
  return columns;
}

std::string_view unit_of(const ResultColumn& column, const TableScale& scale) {
  return column.unit == "us" ? scale.unit : column.unit;
}

std::string heading_of(const ResultColumn& column) {
  if (column.lower.empty()) return std::string(column.upper);
  if (column.upper.ends_with('-')) return fmt::format("{}{}", column.upper.substr(0, column.upper.size() - 1), column.lower);
  return fmt::format("{} {}", column.upper, column.lower);
}

}  // namespace elbowroom
