#include "elbowroom/experiment/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "elbowroom/experiment/bench_case.hpp"
#include "elbowroom/experiment/cases.hpp"
#include "elbowroom/experiment/timed_rounds.hpp"
#include "elbowroom/plan/control_site.hpp"
#include "elbowroom/plan/program.hpp"
#include "experiment/case_error.hpp"
#include "experiment/case_summary.hpp"

namespace elbowroom {
namespace {

using detail::in_case;
using Settings = std::vector<ControlSetting>;

Result<Settings> common_settings(const std::optional<std::string>& plan) {
  return plan ? parse_plan(*plan) : Result<Settings>(Settings());
}

Status check_axes(const SweepSettings& settings, const Settings& common) {
  for (const SweepAxis& axis : settings.axes) {
    if (std::ranges::find(common, axis.name, &ControlSetting::name) != common.end()) {
      return invalid_input(fmt::format("{}: in the plan of all cells and an axis, expected one of both", axis.name));
    }
  }
  return {};
}

/// Every axis with the values that it has in the case.
Result<std::vector<SweepAxis>> axes_of(Backend& backend, const Case& what, const SweepSettings& settings, const Settings& common) {
  std::vector<SweepAxis> axes = settings.axes;
  const auto given = std::ranges::find_if_not(axes, &SweepAxis::is_control);
  if (given != axes.end() && std::holds_alternative<Step>(what)) {
    return invalid_input(fmt::format("{}: a scenario's member, expected controls alone in a sweep of a step", given->name));
  }
  if (std::ranges::none_of(axes, [](const SweepAxis& axis) { return axis.values.empty(); })) { return axes; }
  const Result<CaseTrials> trials = CaseTrials::prepare(backend, what);
  if (!trials) { return trials.error(); }
  const Result<ControlSite> site = trials->site();
  if (!site) { return site.error(); }
  const Result<OverlapPlan> plan = plan_of(*site, common);
  if (!plan) { return plan.error(); }
  for (SweepAxis& axis : axes) {
    Result<std::vector<std::string>> values = values_at(axis, *site, *plan);
    if (!values) { return values.error(); }
    axis.values = std::move(*values);
  }
  return axes;
}

/// The case of a cell.
Result<Case> case_at(const SweepCase& swept, const std::vector<std::size_t>& at) {
  const auto* swept_scenario = std::get_if<Scenario>(&swept.what);
  if (swept_scenario == nullptr) { return swept.what; }
  Result<Scenario> scenario = *swept_scenario;
  for (std::size_t axis = 0; axis < at.size() && scenario; ++axis) {
    if (!swept.axes[axis].is_control()) { scenario = with_member(*scenario, swept.axes[axis], swept.axes[axis].values[at[axis]]); }
  }
  return scenario ? Result<Case>(*std::move(scenario)) : scenario.error();
}

/// What is wrong shows before anything runs.
Status check_cells(Backend& backend, const SweepCase& swept) {
  for (std::size_t cell = 0; cell < swept.cells.size(); ++cell) {
    const Result<Case> what = case_at(swept, cell_positions(swept.grid(), cell));
    if (!what) { return what.error(); }
    if (ranks_of(*what) > static_cast<int>(backend.devices().size())) {
      return invalid_input(fmt::format("{}: gpus: {}, expected at most {} (devices of backend {})", name_of(*what), ranks_of(*what),
                                       backend.devices().size(), backend.name()));
    }
  }
  return {};
}

class CaseSweep {
 public:
  CaseSweep(Backend& backend, SweepDocument& document, SweepCase& swept, Settings common, SweepObserver& observer)
      : backend_(backend), document_(document), swept_(swept), common_(std::move(common)), observer_(observer) {}

  Status run() {
    // Cells of one case follow each other, so that each is made ready once.
    for (const std::size_t cell : cells_by_case()) {
      if (swept_.cells[cell]) { continue; }
      if (Status goes_on = observer_.begin(swept_, cell); !goes_on) { return goes_on; }
      if (Status done = run_cell(cell); !done) { return in_case(name_of(swept_.what), done.error()); }
      if (Status goes_on = observer_.end(document_); !goes_on) { return goes_on; }
    }
    return {};
  }

 private:
  [[nodiscard]] std::vector<std::size_t> cells_by_case() const {
    const auto given = [&](std::size_t cell) {
      std::vector<std::size_t> at = cell_positions(swept_.grid(), cell);
      for (std::size_t axis = 0; axis < at.size(); ++axis) { at[axis] = swept_.axes[axis].is_control() ? 0 : at[axis]; }
      return at;
    };
    std::vector<std::size_t> cells(swept_.cells.size());
    for (std::size_t cell = 0; cell < cells.size(); ++cell) { cells[cell] = cell; }
    std::ranges::stable_sort(cells, {}, given);
    return cells;
  }

  Status prepare(const Case& what) {
    if (trials_ && trials_->what() == what) { return {}; }
    trials_.reset();  // its memory may be needed
    Result<CaseTrials> trials = CaseTrials::prepare(backend_, what);
    if (!trials) { return trials.error(); }
    trials_.emplace(std::move(*trials));
    return {};
  }

  Status run_cell(std::size_t cell) {
    const std::vector<std::size_t> at = cell_positions(swept_.grid(), cell);
    const Result<Case> what = case_at(swept_, at);
    if (!what) { return what.error(); }
    if (Status ready = prepare(*what); !ready) { return ready; }
    const Result<ControlSite> site = trials_->site();
    if (!site) { return site.error(); }
    Settings settings = common_;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      const SweepAxis& along = swept_.axes[axis];
      if (along.is_control()) { add_setting(settings, along, along.values[at[axis]]); }
    }
    const Result<OverlapPlan> plan = plan_of(*site, settings);
    const Status accepted = plan ? trials_->accepts(*plan) : Status(plan.error());
    Result<SweepCell> measured = accepted ? measure(*plan, plain_plan(*site)) : Result<SweepCell>(accepted.error());
    if (!measured && measured.error().kind == ErrorKind::failed) { return measured.error(); }
    swept_.cells[cell] = measured ? std::move(*measured) : SweepCell{{}, std::nullopt, std::nullopt, measured.error().message};
    return {};
  }

  Result<SweepCell> measure(const OverlapPlan& plan, const OverlapPlan& plain) {
    if (Status verified = trials_->verify(Order::concurrent, plan); !verified) { return verified.error(); }
    TimedSchedule cell{"cell", Order::concurrent, plan, {}};
    TimedSchedule streams{"two plain streams", Order::concurrent, plain, {}};
    const std::array<TimedSchedule*, 2> both{&cell, &streams};
    const std::uint64_t seed = document_.origin.seed;
    const Rounds rounds{warm_up_rounds(document_.trials), document_.trials, seed};
    if (Status timed = time_in_rounds(*trials_, both, rounds, [](int) { return Status(); }); !timed) { return timed.error(); }
    const Result<Summary> time = detail::summary_on(backend_, cell.times, seed);
    if (!time) { return time.error(); }
    const Result<RatioSummary> ratio = detail::ratio_on(backend_, cell.times, streams.times, seed);
    if (!ratio) { return ratio.error(); }
    return SweepCell{plan, *time, *ratio, std::nullopt};
  }

  Backend& backend_;
  SweepDocument& document_;
  SweepCase& swept_;
  Settings common_;
  SweepObserver& observer_;
  std::optional<CaseTrials> trials_;
};

}  // namespace

Result<SweepDocument> plan_sweep(Backend& backend, const std::vector<Case>& cases, const SweepSettings& settings) {
  const Result<Settings> common = common_settings(settings.plan);
  if (!common) { return common.error(); }
  if (Status possible = check_axes(settings, *common); !possible) { return possible.error(); }
  SweepDocument document{origin_of(backend, ranks_of(cases.front()), settings.seed), settings.trials, settings.plan, {}};
  for (const Case& what : cases) {
    Result<std::vector<SweepAxis>> axes = axes_of(backend, what, settings, *common);
    if (!axes) { return in_case(name_of(what), axes.error()); }
    SweepCase swept{what, std::move(*axes), {}};
    std::size_t cells = 1;
    for (const SweepAxis& axis : swept.axes) { cells *= axis.values.size(); }
    swept.cells.resize(cells);
    if (Status valid = check_cells(backend, swept); !valid) { return valid.error(); }
    document.cases.push_back(std::move(swept));
  }
  return document;
}

Status run_sweep(Backend& backend, SweepDocument& document, SweepObserver& observer) {
  const Result<Settings> common = common_settings(document.plan);
  if (!common) { return common.error(); }
  for (SweepCase& swept : document.cases) {
    if (Status done = CaseSweep(backend, document, swept, *common, observer).run(); !done) { return done; }
  }
  return {};
}

}  // namespace elbowroom
