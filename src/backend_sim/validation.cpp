#include "elbowroom/backend/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "backend_sim/calibration.hpp"
#include "backend_sim/comm_model.hpp"
#include "backend_sim/compute_model.hpp"
#include "backend_sim/measured_rows.hpp"
#include "backend_sim/performance.hpp"
#include "base/error_spread.hpp"
#include "elbowroom/base/grouped.hpp"

namespace elbowroom {
namespace sim {
namespace {

constexpr double kAsGood = 1.03;
// Of all rows together: three times what the largest file of data/ has, so that validation ends in a minute.
constexpr std::int64_t kMostSimulatedBlocks = std::int64_t{1} << 30;
constexpr std::int64_t kMostOfCollective = 64;

using Rows = std::vector<const MeasuredRow*>;

/// The rows of each group in the file's order, groups in the order of their first row.
std::vector<Rows> grouped_rows(const std::vector<MeasuredRow>& rows) {
  std::map<std::string_view, std::size_t> index;
  std::vector<Rows> groups;
  for (const MeasuredRow& row : rows) {
    const auto [found, added] = index.emplace(row.group, groups.size());
    if (added) { groups.emplace_back(); }
    groups[found->second].push_back(&row);
  }
  return groups;
}

Result<MeasuredCase> case_of(const MeasuredRow& row, const DeviceLimits& device) {
  const Scenario& scenario = row.scenario;
  Result<ComputeProfile> compute =
      row.footprint ? compute_profile(scenario.compute, *row.footprint, device) : compute_profile(scenario.compute, device);
  if (!compute) { return compute.error(); }
  CommSettings settings;
  settings.comm_blocks = scenario.collective.comm_blocks;
  settings.cluster = scenario.collective.cluster;
  settings.comm_threads = row.comm_threads;
  Result<CommProfile> comm = comm_profile(scenario.collective, settings, scenario.gpus, device);
  if (!comm) { return comm.error(); }
  return MeasuredCase{step_of(scenario), machine_of(device), std::move(*compute), *comm};
}

Error at_row(std::string_view source, const MeasuredRow& row, const Error& error) {
  return {error.kind, fmt::format("{}:{}: {}", source, row.line, error.message)};
}

/// What the rows of one group have to simulate: a kernel's blocks, or its tiles where blocks take these one by one.
std::int64_t simulated_blocks(const Rows& group, const ComputeProfile& compute) {
  const BlockWork& work = compute.work;
  const std::int64_t of_kernel = compute.persistent ? work.tiles_x * work.tiles_y : work.blocks();
  return static_cast<std::int64_t>(group.size()) * group.front()->scenario.iterations * (of_kernel + kMostOfCollective);
}

Status check_simulated_work(const std::vector<Rows>& groups, std::string_view source, const DeviceLimits& device) {
  std::int64_t blocks = 0;
  for (const Rows& group : groups) {
    const Result<MeasuredCase> what = case_of(*group.front(), device);
    if (!what) { return at_row(source, *group.front(), what.error()); }
    blocks += simulated_blocks(group, what->compute);
    if (blocks <= kMostSimulatedBlocks) { continue; }
    return at_row(source, *group.front(),
                  invalid_input(fmt::format("{} blocks with the rows before, expected at most {} (blocks of a launch times "
                                            "iterations times rows); several files take more",
                                            grouped(blocks), grouped(kMostSimulatedBlocks))));
  }
  return {};
}

bool isolated(const MeasuredRow& row) { return row.order == Order::compute_only || row.order == Order::comm_only; }

/// What a group does not give stays as the model has it.
Status calibrate(MeasuredCase& what, const Rows& group, const DeviceLimits& device) {
  std::vector<IsolatedCompute> compute;
  for (const MeasuredRow* row : group) {
    if (row->order == Order::compute_only) { compute.push_back({std::max(row->blocks_per_sm, 1), row->pad, row->time}); }
    if (row->order != Order::comm_only) { continue; }
    if (Status done = calibrate_comm(what, row->time, device); !done) { return done; }
  }
  return calibrate_compute(what, std::move(compute), device);
}

Result<RowPrediction> predict(const MeasuredCase& what, const MeasuredRow& row, const DeviceLimits& device) {
  OverlapPlan plan;
  plan.priority = row.priority;
  plan.pad = row.pad;
  const Result<SimRun> run = simulate(what, row.order, plan, device);
  if (!run) { return run.error(); }
  return RowPrediction{row.group, row.scheme, row.priority, row.blocks_per_sm, row.time, Microseconds(run->end)};
}

enum class Given { nothing, isolated_times };

/// Appends the group's predictions and counts its pick.
Status predict_group(const Rows& group, std::string_view source, Given given, const DeviceLimits& device, PredictionTable& table) {
  Result<MeasuredCase> what = case_of(*group.front(), device);
  if (!what) { return at_row(source, *group.front(), what.error()); }
  if (given == Given::isolated_times) {
    if (Status calibrated = calibrate(*what, group, device); !calibrated) {
      return at_row(source, *group.front(), calibrated.error());
    }
  }
  std::vector<RowPrediction> choices;
  for (const MeasuredRow* row : group) {
    if (given == Given::isolated_times && isolated(*row)) { continue; }
    Result<RowPrediction> prediction = predict(*what, *row, device);
    if (!prediction) { return at_row(source, *row, prediction.error()); }
    if (row->order == Order::concurrent) { choices.push_back(*prediction); }
    table.rows.push_back(std::move(*prediction));
  }
  if (choices.size() < 2) { return {}; }
  const auto picked =
      std::min_element(choices.begin(), choices.end(), [](const auto& a, const auto& b) { return a.predicted < b.predicted; });
  const auto best =
      std::min_element(choices.begin(), choices.end(), [](const auto& a, const auto& b) { return a.measured < b.measured; });
  ++table.groups;
  if (picked->measured <= best->measured * kAsGood) { table.best_pick_rate += 1; }
  return {};
}

void summarize(PredictionTable& table) {
  if (table.groups > 0) { table.best_pick_rate /= table.groups; }
  if (table.rows.empty()) { return; }
  std::vector<double> errors;
  errors.reserve(table.rows.size());
  for (const RowPrediction& row : table.rows) { errors.push_back(row.error()); }
  const detail::ErrorSpread spread = detail::spread_of(std::move(errors));
  table.median_error = spread.median;
  table.p90_error = spread.nine_in_ten;
  table.worst_error = spread.worst;
}

}  // namespace
}  // namespace sim

double RowPrediction::error() const { return std::abs(predicted / measured - 1); }

Result<Validation> validate_simulator(std::string_view csv, std::string_view source, const DeviceLimits& device) {
  if (Status known = sim::check_simulable(device); !known) { return known.error(); }
  const Result<std::vector<sim::MeasuredRow>> rows = sim::parse_measured_rows(csv, source);
  if (!rows) { return rows.error(); }
  const std::vector<sim::Rows> groups = sim::grouped_rows(*rows);
  if (Status bounded = sim::check_simulated_work(groups, source, device); !bounded) { return bounded.error(); }
  Validation validation;
  for (const sim::Rows& group : groups) {
    for (const auto& [given, table] :
         {std::pair{sim::Given::isolated_times, &validation.given_isolated}, {sim::Given::nothing, &validation.absolute}}) {
      if (Status done = sim::predict_group(group, source, given, device, *table); !done) { return done.error(); }
    }
  }
  sim::summarize(validation.given_isolated);
  sim::summarize(validation.absolute);
  return validation;
}

}  // namespace elbowroom
