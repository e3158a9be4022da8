#include "elbowroom/experiment/step_validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "base/error_spread.hpp"
#include "elbowroom/steps/decoder.hpp"
#include "experiment/measured_steps.hpp"

namespace elbowroom {
namespace {

StepPrediction predicted(const detail::MeasuredStep& row, const MachineSpec& machine, KernelTimes& kernels) {
  const Parallelism& parallel = row.request.parallel;
  StepPrediction made;
  made.line = row.line;
  made.ranks = fmt::format("tp {} dp {} pp {}", parallel.tp, parallel.dp, parallel.pp);
  made.several_hosts = row.gpus > machine.host_gpus;
  made.pipelined = parallel.pp > 1;
  made.billions = static_cast<double>(parameters_of(row.request.decoder)) / 1e9;
  made.measured = row.time;
  made.refusal = row.refusal;
  if (!made.refusal.empty()) { return made; }
  const Result<IterationTime> time = iteration_time(row.request, machine, kernels);
  if (time) {
    made.predicted = *time;
  } else {
    made.refusal = time.error().message;
  }
  return made;
}

template <class Chosen>
void add_errors(StepValidation& validation, std::string_view of, Chosen chosen) {
  std::vector<double> errors;
  for (const StepPrediction& row : validation.rows) {
    if (row.predicted && chosen(row)) { errors.push_back(row.error()); }
  }
  if (errors.empty()) { return; }
  const detail::ErrorSpread spread = detail::spread_of(errors);
  StepErrors made;
  made.of = of;
  made.rows = static_cast<int>(errors.size());
  made.mean = std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size());
  made.median = spread.median;
  made.p90 = spread.nine_in_ten;
  made.worst = spread.worst;
  validation.errors.push_back(std::move(made));
}

struct SizeRange {
  std::string_view name;
  double from;
  double below;  // billions of parameters
};
constexpr std::array kSizes{SizeRange{"below 1 billion parameters", 0, 1}, SizeRange{"1 to 10 billion", 1, 10},
                            SizeRange{"10 to 100 billion", 10, 100}, SizeRange{"100 billion and more", 100, 1e9}};

}  // namespace

double StepPrediction::error() const { return std::abs(predicted->total() / measured - 1); }

Result<StepValidation> validate_steps(std::string_view csv, std::string_view source, Backend& backend, const MachineSpec& machine) {
  const Result<std::vector<detail::MeasuredStep>> rows = detail::parse_measured_steps(csv, source);
  if (!rows) { return rows.error(); }
  KernelTimes kernels(backend);
  StepValidation validation;
  for (const detail::MeasuredStep& row : *rows) {
    validation.rows.push_back(predicted(row, machine, kernels));
    if (!validation.rows.back().predicted) { ++validation.refused; }
  }
  add_errors(validation, "all", [](const StepPrediction&) { return true; });
  add_errors(validation, "one host", [](const StepPrediction& row) { return !row.several_hosts; });
  add_errors(validation, "several hosts", [](const StepPrediction& row) { return row.several_hosts; });
  add_errors(validation, "pp above 1", [](const StepPrediction& row) { return row.pipelined; });
  for (const SizeRange& size : kSizes) {
    add_errors(validation, size.name,
               [&](const StepPrediction& row) { return row.billions >= size.from && row.billions < size.below; });
  }
  return validation;
}

}  // namespace elbowroom
