#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/backend/backend.hpp"
#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/experiment/energy_settings.hpp"
#include "elbowroom/experiment/stored_plans.hpp"
#include "elbowroom/plan/plan_text.hpp"
#include "elbowroom/plan/scheme.hpp"
#include "elbowroom/report/chrome_trace.hpp"
#include "elbowroom/report/result_document.hpp"

namespace elbowroom {

/// Which residency the shaped schemes run at.
struct ResidencyChoice {
  enum class Kind {
    best,   ///< the one that a short screening of the scheme finds best. Its time is then measured afresh: no scheme is
            ///< judged by the luck of its choice
    every,  ///< one result for each
    fixed,  ///< `blocks_per_sm`
  };
  Kind kind = Kind::best;
  BlocksPerSm blocks_per_sm;
};

/// "best", "all" or a number of blocks.
ELBOWROOM_API Result<ResidencyChoice> parse_residency(std::string_view text);

struct BenchSettings {
  std::vector<Scheme> schemes;     ///< `sequential` is always run: everything is compared with it
  bool schemes_asked_for = false;  ///< by the user, who wants to know when none of them can act
  int trials = 10;                 ///< counted; half as many rounds before them are warm-up
  std::uint64_t seed = 1;
  ResidencyChoice residency;
  TunedPlans tuned;                                ///< asked where `schemes` has `tuned`
  std::vector<std::vector<ControlSetting>> plans;  ///< run beside the schemes, each under the label "plan N"
  const EnergySettings* energy = nullptr;          ///< null: nobody asked for joules
};

/// Rounds that are run and not counted before `trials` counted ones: the first third of all.
constexpr int warm_up_rounds(int trials) { return (trials + 1) / 2; }

/// What a case consists of.
enum class CaseStep { prepare, screen, verify, run, record, energy };

/// Follows a case.
class CaseObserver {
 public:
  virtual ~CaseObserver() = default;
  /// So many steps of a kind are to come, as far as is known.
  virtual void expect(CaseStep step, std::size_t count) = 0;
  /// One begins. An error ends the case with it.
  virtual Status begin(CaseStep step, std::string_view what) = 0;
};

struct CaseMeasurement {
  CaseResult result;
  std::vector<LabelledTimeline> timelines;      ///< one for each result; empty when the backend cannot record
  std::optional<std::string> no_record_reason;  ///< why it cannot; absent: it could
};

/// Runs one case under every scheme: screens residencies, verifies every schedule's results, times all schedules in turn in
/// each round, and records each three times. A scheme that cannot act becomes a refusal; a wrong result or a device error is an
/// Error.
ELBOWROOM_API Result<CaseMeasurement> bench_case(Backend& backend, const Case& what, const BenchSettings& settings,
                                                 CaseObserver& observer);

}  // namespace elbowroom
