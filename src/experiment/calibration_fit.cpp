#include "experiment/calibration_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <random>
#include <utility>

#include "base/error_spread.hpp"
#include "elbowroom/experiment/case_trials.hpp"
#include "elbowroom/model/device_facts.hpp"
#include "elbowroom/plan/program.hpp"
#include "elbowroom/trace/rank_interval.hpp"
#include "experiment/log_fit.hpp"
#include "experiment/predicting_simulator.hpp"
#include "experiment/shuffle.hpp"

namespace elbowroom::detail {
namespace {

constexpr double kReluctance = 0.02;
constexpr double kMostLog = 2.1;        // a factor of 8
constexpr std::size_t kLeastPairs = 6;  // of which a third is held out

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
                                Constant{"comm_sm_mb_per_s", &SimulatedSpeeds::comm_sm_rate, 7},
                                Constant{"one_way_blocks", &SimulatedSpeeds::one_way_blocks, 8},
                                Constant{"one_way_links", &SimulatedSpeeds::one_way_links, 9},
                                Constant{"one_way_traffic", &SimulatedSpeeds::one_way_traffic, 10}};
constexpr std::size_t kFactors = 11;

/// What the simulator says of the schedules that were measured, with a device's constants.
class Simulated {
 public:
  Simulated(DeviceLimits device, const std::vector<CalibrationCase>& cases) : device_(std::move(device)), cases_(cases) {}

  [[nodiscard]] Result<std::vector<double>> times(const std::shared_ptr<const DeviceFacts>& facts) const {
    DeviceLimits device = device_;
    device.facts = facts;
    const Result<std::unique_ptr<Backend>> simulator = predicting_simulator(device);
    if (!simulator) { return simulator.error(); }
    std::vector<double> times;
    for (const CalibrationCase& one : cases_) {
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
  const std::vector<CalibrationCase>& cases_;
};

SimulatedSpeeds scaled(SimulatedSpeeds speeds, const std::vector<double>& logs) {
  for (const Constant& one : kConstants) { speeds.*one.member *= std::exp(logs[static_cast<std::size_t>(one.factor)]); }
  return speeds;
}

/// A third of the pairs, the same for the same seed.
void hold_out(std::vector<CalibrationPoint>& points, std::vector<std::size_t> pairs, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  shuffle(pairs, random);
  pairs.resize(pairs.size() / 3);
  for (const std::size_t at : pairs) { points[at].held_out = true; }
}

/// The constants of what is made, and the points that they are fitted to.
class CalibrationFit {
 public:
  CalibrationFit(Calibration made, const DeviceFacts& start, const std::vector<CalibrationCase>& cases,
                 const std::function<Status(std::string_view)>& before)
      : made_(std::move(made)), start_(start), before_(before), simulated_(made_.device, cases) {
    for (const CalibrationCase& one : cases) { add_points(one); }
  }

  Result<Calibration> run(std::uint64_t seed) {
    if (pairs_.size() < kLeastPairs) {
      const std::string why = made_.refused.empty() ? "" : fmt::format("; {}", made_.refused.front());
      return invalid_input(
          fmt::format("{} pairs of a kernel and a collective ran here, expected {} or more{}", pairs_.size(), kLeastPairs, why));
    }
    hold_out(made_.points, std::move(pairs_), seed);
    const Result<std::vector<double>> logs =
        least_squares([this](const std::vector<double>& at) { return residuals(at); }, kFactors, kReluctance, kMostLog);
    if (!logs) { return logs.error(); }
    if (Status kept = keep(*logs); !kept) { return kept.error(); }
    return std::move(made_);
  }

 private:
  void add_points(const CalibrationCase& one) {
    for (const TimedSchedule& schedule : one.schedules) {
      if (schedule.order == Order::concurrent) { pairs_.push_back(made_.points.size()); }
      made_.points.push_back({one.scenario.name, schedule.label, false, rank_interval(schedule.times).median, Microseconds(0)});
    }
  }

  [[nodiscard]] Result<std::vector<double>> residuals(const std::vector<double>& logs) const {
    if (Status goes_on = before_("fitting"); !goes_on) { return goes_on.error(); }
    const Result<std::vector<double>> times = simulated_.times(facts_with(logs));
    if (!times) { return times.error(); }
    std::vector<double> fitted_ones;
    for (std::size_t at = 0; at < times->size(); ++at) {
      if (!made_.points[at].held_out) { fitted_ones.push_back(std::log((*times)[at] / made_.points[at].measured.count())); }
    }
    return fitted_ones;
  }

  /// The constants, what the simulator says with them, and by what was held out how far off they are.
  Status keep(const std::vector<double>& logs) {
    const SimulatedSpeeds start = *start_.simulated;
    const std::shared_ptr<DeviceFacts> facts = facts_with(logs);
    for (const Constant& constant : kConstants) {
      if (start.*constant.member == 0) { continue; }  // not known of the device
      made_.constants.push_back({constant.name, start.*constant.member, (*facts->simulated).*constant.member});
    }
    const Result<std::vector<double>> times = simulated_.times(facts);
    if (!times) { return times.error(); }
    std::vector<double> errors;
    for (std::size_t at = 0; at < times->size(); ++at) {
      made_.points[at].simulated = Microseconds((*times)[at]);
      if (made_.points[at].held_out) { errors.push_back(made_.points[at].error()); }
    }
    const ErrorSpread spread = spread_of(std::move(errors));
    made_.median = spread.median;
    made_.nine_in_ten = spread.nine_in_ten;
    made_.worst = spread.worst;
    facts->model = ModelWidth{Basis::fitted, std::min(made_.worst, 1.0), ""};
    made_.device.facts = facts;
    return {};
  }

  [[nodiscard]] std::shared_ptr<DeviceFacts> facts_with(const std::vector<double>& logs) const {
    auto facts = std::make_shared<DeviceFacts>(start_);
    facts->simulated = scaled(*start_.simulated, logs);
    return facts;
  }

  Calibration made_;
  const DeviceFacts& start_;
  const std::function<Status(std::string_view)>& before_;
  Simulated simulated_;
  std::vector<std::size_t> pairs_;
};

}  // namespace

Result<Calibration> fitted(Calibration made, const DeviceFacts& start, const std::vector<CalibrationCase>& cases,
                           std::uint64_t seed, const std::function<Status(std::string_view)>& before) {
  return CalibrationFit(std::move(made), start, cases, before).run(seed);
}

}  // namespace elbowroom::detail
