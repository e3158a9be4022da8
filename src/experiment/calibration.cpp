#include "elbowroom/experiment/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <random>
#include <utility>

#include "base/error_spread.hpp"
#include "elbowroom/experiment/case_trials.hpp"
#include "elbowroom/experiment/cases.hpp"
#include "elbowroom/experiment/timed_rounds.hpp"
#include "elbowroom/model/device_catalog.hpp"
#include "elbowroom/model/device_facts.hpp"
#include "elbowroom/plan/control_site.hpp"
#include "elbowroom/plan/plan_text.hpp"
#include "elbowroom/plan/program.hpp"
#include "elbowroom/trace/rank_interval.hpp"
#include "experiment/calibration_cases.hpp"
#include "experiment/log_fit.hpp"
#include "experiment/predicting_simulator.hpp"
#include "experiment/shuffle.hpp"

namespace elbowroom {
namespace {

constexpr int kWarmUpRounds = 2;
constexpr double kReluctance = 0.02;
constexpr double kMostLog = 2.1;        // a factor of 8
constexpr std::size_t kLeastPairs = 6;  // of which a third is held out
constexpr const char* kStart = "h200";  // of a device whose constants nobody knows

/// Constants that one factor scales: what one thread of a collective's block moves and what its SM moves show as one rate, and
/// no product runs in f16 or e4m3.
struct Constant {
  const char* name;
  double SimulatedSpeeds::* member;
  int factor;  ///< the same for those that are scaled together
};
// GPCs, memory and devices of a host are not fitted, and copies to peers were not run.
constexpr std::array kConstants{Constant{"f32_mflops_per_sm", &SimulatedSpeeds::f32_rate, 0},
                                Constant{"bf16_mflops_per_sm", &SimulatedSpeeds::tensor_rate, 1},
                                Constant{"f16_mflops_per_sm", &SimulatedSpeeds::f16_rate, 1},
                                Constant{"e4m3_mflops_per_sm", &SimulatedSpeeds::e4m3_rate, 1},
                                Constant{"memory_mb_per_s", &SimulatedSpeeds::memory_rate, 2},
                                Constant{"link_mb_per_s", &SimulatedSpeeds::link_rate, 3},
                                Constant{"load_latency", &SimulatedSpeeds::load_latency, 4},
                                Constant{"block_us", &SimulatedSpeeds::block_time, 5},
                                Constant{"comm_startup_us", &SimulatedSpeeds::comm_startup, 6},
                                Constant{"comm_thread_mb_per_s", &SimulatedSpeeds::comm_thread_rate, 7},
                                Constant{"comm_sm_mb_per_s", &SimulatedSpeeds::comm_sm_rate, 7}};
constexpr std::size_t kFactors = 8;

/// A case as it was measured.
struct MeasuredCase {
  Scenario scenario;
  std::vector<TimedSchedule> schedules;
};

/// What can act on the case of the schedules that a calibration runs.
Result<std::vector<TimedSchedule>> schedules_of(const CaseTrials& trials) {
  const Result<ControlSite> site = trials.site();
  if (!site) { return site.error(); }
  std::vector<TimedSchedule> made;
  for (const detail::CalibrationSchedule& one : detail::calibration_schedules()) {
    const Result<std::vector<ControlSetting>> settings = one.plan.empty() ? std::vector<ControlSetting>() : parse_plan(one.plan);
    if (!settings) { return settings.error(); }
    const Result<OverlapPlan> plan = plan_of(*site, *settings);
    if (!plan || !trials.accepts(*plan)) { continue; }
    made.push_back({std::string(one.name), one.order, *plan, {}});
  }
  return made;
}

Result<std::vector<TimedSchedule>> timed(Backend& backend, const Scenario& scenario, const CalibrationSettings& settings,
                                         const std::function<Status(std::string_view)>& before) {
  Result<CaseTrials> trials = CaseTrials::prepare(backend, scenario);
  if (!trials) { return trials.error(); }
  Result<std::vector<TimedSchedule>> schedules = schedules_of(*trials);
  if (!schedules) { return schedules.error(); }
  std::vector<TimedSchedule*> all;
  for (TimedSchedule& schedule : *schedules) { all.push_back(&schedule); }
  const Status done =
      time_in_rounds(*trials, all, {kWarmUpRounds, settings.trials, settings.seed}, [&](int) { return before(scenario.name); });
  return done ? std::move(schedules) : Result<std::vector<TimedSchedule>>(done.error());
}

/// What the simulator says of the schedules that were measured, with a device's constants.
class Simulated {
 public:
  Simulated(DeviceLimits device, const std::vector<MeasuredCase>& cases) : device_(std::move(device)), cases_(cases) {}

  [[nodiscard]] Result<std::vector<double>> times(const std::shared_ptr<const DeviceFacts>& facts) const {
    DeviceLimits device = device_;
    device.facts = facts;
    const Result<std::unique_ptr<Backend>> simulator = detail::predicting_simulator(device);
    if (!simulator) { return simulator.error(); }
    std::vector<double> times;
    for (const MeasuredCase& one : cases_) {
      Result<CaseTrials> trials = CaseTrials::prepare(**simulator, one.scenario);
      if (!trials) { return trials.error(); }
      for (const TimedSchedule& schedule : one.schedules) {
        const Result<Microseconds> time = trials->run(schedule.order, schedule.plan);
        if (!time) { return time.error(); }
        times.push_back(time->count());
      }
    }
    return times;
  }

 private:
  DeviceLimits device_;
  const std::vector<MeasuredCase>& cases_;
};

SimulatedSpeeds scaled(SimulatedSpeeds speeds, const std::vector<double>& logs) {
  for (const Constant& one : kConstants) { speeds.*one.member *= std::exp(logs[static_cast<std::size_t>(one.factor)]); }
  return speeds;
}

/// A third of the pairs, the same for the same seed.
void hold_out(std::vector<CalibrationPoint>& points, std::vector<std::size_t> pairs, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  detail::shuffle(pairs, random);
  pairs.resize(pairs.size() / 3);
  for (const std::size_t at : pairs) { points[at].held_out = true; }
}

class Calibrating {
 public:
  Calibrating(Backend& backend, const CalibrationSettings& settings, const std::function<Status(std::string_view)>& before)
      : backend_(backend), settings_(settings), before_(before) {}

  Result<Calibration> run() {
    made_.origin = origin_of(backend_, settings_.gpus, settings_.seed);
    for (Status (Calibrating::*part)() : {&Calibrating::choose_start, &Calibrating::measure, &Calibrating::fit}) {
      if (Status done = (this->*part)(); !done) { return done.error(); }
    }
    judge();
    return std::move(made_);
  }

 private:
  /// The constants of the device, of the catalog's of its name, or of the one that the model was made on.
  Status choose_start() {
    const DeviceInfo& info = backend_.devices().front();
    made_.device = info.limits;
    std::ranges::replace(made_.device.name, '_', '-');  // "sm_89" is no name of a device file
    // A simulated machine stands for one that nobody knows: its own constants are no start.
    const Result<DeviceLimits> catalog = find_device(info.limits.name);
    const DeviceFacts* known = catalog ? facts_of(*catalog) : nullptr;
    facts_ = known != nullptr ? *known : DeviceFacts();
    made_.start = info.limits.name;
    if (!facts_.simulated) {
      facts_.simulated = facts_of(*find_device(kStart))->simulated;
      made_.start = kStart;
      facts_.simulated->memory = info.memory;
      facts_.simulated->gpcs = 1;
      facts_.simulated->copy_rate = 0;
      facts_.simulated->host = std::max(settings_.gpus, static_cast<int>(backend_.devices().size()));
    }
    return {};
  }

  Status measure() {
    std::vector<std::size_t> pairs;
    const std::vector<Scenario> cases = settings_.cases.empty() ? detail::calibration_cases(settings_.gpus) : settings_.cases;
    for (const Scenario& scenario : cases) {
      Result<std::vector<TimedSchedule>> schedules = timed(backend_, scenario, settings_, before_);
      if (!schedules) {
        if (Status goes_on = before_(scenario.name); !goes_on) { return goes_on; }
        made_.refused.push_back(fmt::format("{}: {}", scenario.name, schedules.error().message));
        continue;
      }
      for (const TimedSchedule& schedule : *schedules) {
        if (schedule.order == Order::concurrent) { pairs.push_back(made_.points.size()); }
        made_.points.push_back(
            {fmt::format("{}: {}", scenario.name, schedule.label), false, rank_interval(schedule.times).median, Microseconds(0)});
      }
      cases_.push_back({scenario, std::move(*schedules)});
    }
    if (pairs.size() < kLeastPairs) {
      const std::string why = made_.refused.empty() ? "" : fmt::format("; {}", made_.refused.front());
      return invalid_input(
          fmt::format("{} pairs of a kernel and a collective ran here, expected {} or more{}", pairs.size(), kLeastPairs, why));
    }
    hold_out(made_.points, std::move(pairs), settings_.seed);
    return {};
  }

  Status fit() {
    const Simulated simulated(made_.device, cases_);
    const auto residuals = [&](const std::vector<double>& logs) -> Result<std::vector<double>> {
      if (Status goes_on = before_("fitting"); !goes_on) { return goes_on.error(); }
      const Result<std::vector<double>> times = simulated.times(facts_with(logs));
      if (!times) { return times.error(); }
      std::vector<double> fitted;
      for (std::size_t at = 0; at < times->size(); ++at) {
        if (!made_.points[at].held_out) { fitted.push_back(std::log((*times)[at] / made_.points[at].measured.count())); }
      }
      return fitted;
    };
    const Result<std::vector<double>> logs = detail::least_squares(residuals, kFactors, kReluctance, kMostLog);
    if (!logs) { return logs.error(); }
    const SimulatedSpeeds start = *facts_.simulated;
    const std::shared_ptr<const DeviceFacts> facts = facts_with(*logs);
    for (const Constant& constant : kConstants) {
      if (start.*constant.member == 0) { continue; }  // not known of the device
      made_.constants.push_back({constant.name, start.*constant.member, (*facts->simulated).*constant.member});
    }
    const Result<std::vector<double>> times = simulated.times(facts);
    if (!times) { return times.error(); }
    for (std::size_t at = 0; at < times->size(); ++at) { made_.points[at].simulated = Microseconds((*times)[at]); }
    facts_ = *facts;
    return {};
  }

  [[nodiscard]] std::shared_ptr<const DeviceFacts> facts_with(const std::vector<double>& logs) const {
    auto facts = std::make_shared<DeviceFacts>(facts_);
    facts->simulated = scaled(*facts_.simulated, logs);
    return facts;
  }

  /// What was held out says how far off the constants are.
  void judge() {
    std::vector<double> errors;
    for (const CalibrationPoint& point : made_.points) {
      if (point.held_out) { errors.push_back(point.error()); }
    }
    const detail::ErrorSpread spread = detail::spread_of(std::move(errors));
    made_.median = spread.median;
    made_.nine_in_ten = spread.nine_in_ten;
    made_.worst = spread.worst;
    facts_.model = ModelWidth{Basis::fitted, std::min(made_.worst, 1.0), ""};
    made_.device.facts = std::make_shared<const DeviceFacts>(facts_);
  }

  Backend& backend_;
  const CalibrationSettings& settings_;
  const std::function<Status(std::string_view)>& before_;
  Calibration made_;
  DeviceFacts facts_;
  std::vector<MeasuredCase> cases_;
};

Status check(const CalibrationSettings& settings) {
  if (settings.gpus < 2) { return invalid_input(fmt::format("gpus: {}, expected 2 or more", settings.gpus)); }
  if (settings.trials < 1) { return invalid_input(fmt::format("trials: {}, expected 1 or more", settings.trials)); }
  return {};
}

}  // namespace

double CalibrationPoint::error() const { return std::abs(simulated / measured - 1); }

Result<Calibration> calibrate(Backend& backend, const CalibrationSettings& settings,
                              const std::function<Status(std::string_view)>& before) {
  if (Status checked = check(settings); !checked) { return checked.error(); }
  return Calibrating(backend, settings, before).run();
}

}  // namespace elbowroom
