#include "elbowroom/experiment/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "elbowroom/experiment/case_trials.hpp"
#include "elbowroom/experiment/cases.hpp"
#include "elbowroom/experiment/timed_rounds.hpp"
#include "elbowroom/model/device_catalog.hpp"
#include "elbowroom/model/device_facts.hpp"
#include "elbowroom/plan/control_site.hpp"
#include "elbowroom/plan/plan_text.hpp"
#include "elbowroom/plan/program.hpp"
#include "experiment/calibration_cases.hpp"
#include "experiment/calibration_fit.hpp"

namespace elbowroom {
namespace {

constexpr int kWarmUpRounds = 2;
constexpr const char* kStart = "h200";  // of a device whose constants nobody knows

Result<std::vector<TimedSchedule>> timed(Backend& backend, const Scenario& scenario, const CalibrationSettings& settings,
                                         const std::function<Status(std::string_view)>& before) {
  Result<CaseTrials> trials = CaseTrials::prepare(backend, scenario);
  if (!trials) { return trials.error(); }
  Result<std::vector<TimedSchedule>> schedules = detail::schedules_of_calibration(*trials);
  if (!schedules) { return schedules.error(); }
  std::vector<TimedSchedule*> all;
  for (TimedSchedule& schedule : *schedules) { all.push_back(&schedule); }
  const Status done =
      time_in_rounds(*trials, all, {kWarmUpRounds, settings.trials, settings.seed}, [&](int) { return before(scenario.name); });
  return done ? std::move(schedules) : Result<std::vector<TimedSchedule>>(done.error());
}

/// The constants to begin with: those of the device, of the catalog's of its name, or of the one that the model was made on.
struct Beginning {
  std::string name;
  DeviceFacts facts;
};

Beginning beginning_of(const DeviceInfo& info, int host) {
  // A simulated machine stands for one that nobody knows: its own constants are no start.
  const Result<DeviceLimits> catalog = find_device(info.limits.name);
  const DeviceFacts* known = catalog ? facts_of(*catalog) : nullptr;
  Beginning start{info.limits.name, known != nullptr ? *known : DeviceFacts()};
  if (start.facts.simulated) { return start; }
  start.name = kStart;
  start.facts.simulated = facts_of(*find_device(kStart))->simulated;
  start.facts.simulated->memory = info.memory;
  start.facts.simulated->gpcs = 1;
  start.facts.simulated->copy_rate = 0;
  start.facts.simulated->host = host;
  return start;
}

Status check(const CalibrationSettings& settings) {
  if (settings.gpus < 2) { return invalid_input(fmt::format("gpus: {}, expected 2 or more", settings.gpus)); }
  if (settings.trials < 1) { return invalid_input(fmt::format("trials: {}, expected 1 or more", settings.trials)); }
  return {};
}

}  // namespace

double CalibrationPoint::error() const { return std::abs(simulated / measured - 1); }

Result<std::vector<TimedSchedule>> detail::schedules_of_calibration(const CaseTrials& trials) {
  const Result<ControlSite> site = trials.site();
  if (!site) { return site.error(); }
  std::vector<TimedSchedule> made;
  for (const CalibrationSchedule& one : calibration_schedules()) {
    const Result<std::vector<ControlSetting>> settings = one.plan.empty() ? std::vector<ControlSetting>() : parse_plan(one.plan);
    if (!settings) { return settings.error(); }
    const Result<OverlapPlan> plan = plan_of(*site, *settings);
    if (!plan || !trials.accepts(*plan)) { continue; }
    made.push_back({std::string(one.name), one.order, *plan, {}});
  }
  return made;
}

Result<Calibration> calibrate(Backend& backend, const CalibrationSettings& settings,
                              const std::function<Status(std::string_view)>& before) {
  if (Status checked = check(settings); !checked) { return checked.error(); }
  const DeviceInfo& info = backend.devices().front();
  const Beginning start = beginning_of(info, std::max(settings.gpus, static_cast<int>(backend.devices().size())));
  Calibration made;
  made.origin = origin_of(backend, settings.gpus, settings.seed);
  made.device = info.limits;
  std::ranges::replace(made.device.name, '_', '-');  // "sm_89" is no name of a device file
  made.start = start.name;
  std::vector<detail::CalibrationCase> cases;
  for (const Scenario& scenario : settings.cases.empty() ? detail::calibration_cases(settings.gpus) : settings.cases) {
    Result<std::vector<TimedSchedule>> schedules = timed(backend, scenario, settings, before);
    if (schedules) {
      cases.push_back({scenario, std::move(*schedules)});
      continue;
    }
    if (Status goes_on = before(scenario.name); !goes_on) { return goes_on.error(); }
    made.refused.push_back(fmt::format("{}: {}", scenario.name, schedules.error().message));
  }
  return detail::fitted(std::move(made), start.facts, cases, settings.seed, before);
}

}  // namespace elbowroom
