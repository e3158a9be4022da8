#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "elbowroom/backend/backend.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/plan/plan_text.hpp"
#include "elbowroom/plan/scheme.hpp"
#include "elbowroom/report/chrome_trace.hpp"
#include "elbowroom/report/result_document.hpp"
#include "tuned_plans.hpp"

namespace elbowroom {

/// Which residency the shaped schemes run at.
struct ResidencyChoice {
  enum class Kind {
    best,   ///< the one that a short screening of the scheme finds best; its time is then measured afresh, so that no scheme is
            ///< judged by the luck of its choice
    every,  ///< one result for each
    fixed,  ///< `blocks_per_sm`
  };
  Kind kind = Kind::best;
  BlocksPerSm blocks_per_sm;
};

struct BenchSettings {
  std::vector<Scheme> schemes;  ///< `sequential` is always run: everything is compared with it
  int trials = 10;              ///< counted; half as many rounds before them are warm-up
  std::uint64_t seed = 1;
  ResidencyChoice residency;
  TunedPlans tuned;                                ///< asked where `schemes` has `tuned`
  std::vector<std::vector<ControlSetting>> plans;  ///< run beside the schemes, each under the label "plan N"
};

/// Rounds that are run and not counted before `trials` counted ones: the first third of all.
constexpr int warm_up_rounds(int trials) { return (trials + 1) / 2; }

/// Told after each step how far the case is, from 0 to 1.
using Progress = std::function<void(std::string_view step, double share)>;

struct CaseMeasurement {
  CaseResult result;
  std::vector<LabelledTimeline> timelines;  ///< one for each result; empty when the backend cannot record
  std::string no_record_reason;             ///< why it cannot; empty: it could
};

/// Runs one scenario under every scheme: screens residencies, verifies every schedule's results, times all schedules in turn in
/// each round, and records each three times. A scheme that cannot act becomes a refusal; a wrong result or a device error is an Error.
Result<CaseMeasurement> run_case(Backend& backend, const Scenario& scenario, const BenchSettings& settings,
                                 const Progress& progress);

}  // namespace elbowroom
