#include "elbowroom/experiment/prediction.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "elbowroom/experiment/case_trials.hpp"
#include "elbowroom/model/device_facts.hpp"
#include "experiment/predicting_simulator.hpp"

namespace elbowroom {
namespace {

// A pipeline goes on as it ran by then: more iterations are predicted from the last half of these.
constexpr int kMostSimulated = 16;
constexpr int kHalfSimulated = kMostSimulated / 2;

int iterations_of(const Case& what) {
  const auto* scenario = std::get_if<Scenario>(&what);
  return scenario != nullptr ? scenario->iterations : std::get<Step>(what).repeats;
}

/// The case with so many iterations.
Case shortened(Case what, int iterations) {
  if (auto* scenario = std::get_if<Scenario>(&what)) {
    scenario->iterations = iterations;
  } else {
    std::get<Step>(what).repeats = iterations;
  }
  return what;
}

/// Empty where the simulator cannot run it.
Predictor predictor_of(Backend& simulator, const Case& what) {
  Result<CaseTrials> prepared = CaseTrials::prepare(simulator, what);
  if (!prepared) { return {}; }
  // A std::function is copied, trials are not.
  return [trials = std::make_shared<CaseTrials>(std::move(*prepared))](Scheme scheme, const OverlapPlan& plan) {
    return trials->run(order_of(scheme), plan);
  };
}

}  // namespace

Predictor simulated_times(const Case& what, const DeviceLimits& device) {
  if (facts_of(device) == nullptr) { return {}; }
  const Result<std::unique_ptr<Backend>> opened = detail::predicting_simulator(device);
  if (!opened) { return {}; }
  const int iterations = iterations_of(what);
  Predictor whole = predictor_of(**opened, shortened(what, std::min(iterations, kMostSimulated)));
  if (!whole || iterations <= kMostSimulated) { return whole; }
  const Predictor half = predictor_of(**opened, shortened(what, kHalfSimulated));
  const double more = static_cast<double>(iterations - kMostSimulated) / kHalfSimulated;
  return [=](Scheme scheme, const OverlapPlan& plan) -> Result<Microseconds> {
    const Result<Microseconds> longer = whole(scheme, plan);
    if (!longer) { return longer.error(); }
    const Result<Microseconds> shorter = half(scheme, plan);
    if (!shorter) { return shorter.error(); }
    return *longer + (*longer - *shorter) * more;
  };
}

}  // namespace elbowroom
