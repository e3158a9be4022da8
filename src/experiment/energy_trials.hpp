#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "elbowroom/backend/backend.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/energy/scheme_energy.hpp"
#include "elbowroom/energy/span.hpp"
#include "elbowroom/experiment/case_trials.hpp"
#include "elbowroom/experiment/energy_settings.hpp"

namespace elbowroom::detail {

/// Told before each step what it is; an error ends the measurement with it.
using EnergyProgress = std::function<Status(std::string_view what)>;

/// Energy of the schedules of one case, by the counters of its GPUs. Errors but `failed` say in one line why there are no joules.
class EnergyTrials {
 public:
  /// Opens the counters, finds out how often they move, and measures what the GPUs take with nothing running. `trials` outlives it.
  static Result<EnergyTrials> begin(const EnergySettings& settings, const Backend& backend, CaseTrials& trials,
                                    EnergyProgress before);

  /// Cools down, warms up, and runs the schedule for one span.
  Result<SchemeEnergy> measure(const std::string& label, Order order, const OverlapPlan& plan);

 private:
  EnergyTrials(CaseTrials& trials, std::unique_ptr<EnergyMeter> meter, EnergyProgress before)
      : trials_(&trials), meter_(std::move(meter)), before_(std::move(before)) {}

  /// By watching for a while what it does.
  Status find_period();
  Status measure_idle();
  Status run_until(Microseconds end, Order order, const OverlapPlan& plan, std::vector<RunSpan>& runs);

  CaseTrials* trials_;
  std::unique_ptr<EnergyMeter> meter_;
  EnergyProgress before_;
  Microseconds period_{0};
  EnergySpans spans_;
  Watts idle_;
};

}  // namespace elbowroom::detail
