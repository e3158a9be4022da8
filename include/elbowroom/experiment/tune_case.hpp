#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/backend/backend.hpp"
#include "elbowroom/base/export.hpp"
#include "elbowroom/base/notice.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/energy/objective.hpp"
#include "elbowroom/energy/scheme_energy.hpp"
#include "elbowroom/experiment/energy_settings.hpp"
#include "elbowroom/experiment/timed_rounds.hpp"
#include "elbowroom/model/case.hpp"
#include "elbowroom/plan/hardware_limit.hpp"
#include "elbowroom/tune/profile.hpp"
#include "elbowroom/tune/tuner.hpp"
#include "elbowroom/tune/verdict.hpp"

namespace elbowroom {

struct TuneSettings {
  TunerOptions tuner;
  bool prior = true;                  ///< rank candidates by the simulator where it knows the device
  std::vector<std::string> left_out;  ///< controls that no plan sets beyond what the case fixes
  /// A profile: an interrupted search goes on from a file beside it. Absent: nothing is kept.
  std::optional<std::string> state_for = std::nullopt;
  NoticeSink notice;  ///< what goes on from where, and why it does not
  Objective objective = Objective::time;
  const EnergySettings* energy = nullptr;  ///< not null where the objective is not time
};

/// Names of controls that `elbowroom run` cannot apply to a program.
ELBOWROOM_API std::vector<std::string> controls_beyond_run();

/// `invalid_input` for a name that no control has: "'x', expected one of ...".
ELBOWROOM_API Status check_controls(std::span<const std::string> names);

/// Told before each step what it is and how the search stands if it has begun. It is also told how long the case will take at most,
/// where that is known. An error ends the case with it; a profile's search then goes on from where it was when it is called again.
using TuneProgress = std::function<Status(std::string_view step, const Tuner* tuner, std::optional<Seconds> left)>;

struct TunedCase {
  Case what;
  StoredChoice choice;
  std::optional<std::string> acts_on;  ///< which controls of the choice act on a part of a step's operations; absent: each on all
  std::optional<std::string> limited_by;  ///< absent: a step, whose kernels have limits of their own
  /// The fresh rounds after the search: both sides alone, the baselines, the finalists. The same position is the same round.
  std::vector<TimedSchedule> afresh;
  Objective objective = Objective::time;
  std::vector<SchemeEnergy>
      energy;  ///< of the last so many of `afresh`: all but both sides alone; empty where the objective is time
  // Medians of those, like the choice's times; all iterations.
  Microseconds compute_alone{0};
  Microseconds comm_alone{0};
  Microseconds sequential{0};
  Microseconds critical_path{0};
  std::optional<HardwareLimit> hardware_limit;  ///< absent: the catalog does not have the device
  std::optional<RatioSummary> confirmed;        ///< finalist / best baseline; absent when there was none
  std::vector<MeasuredCandidate> candidates;
  TunerEnding ending = TunerEnding::separated;
  Seconds spent{0};
  bool can_overlap = true;  ///< false: the critical path is no shorter than one operation after the other
};

/// Searches; of a step one plan for all of it, which acts where it can (CaseTrials::by_operation). Then fresh interleaved rounds
/// measure the winner and the steadiest candidate, the baselines, and both sides alone and one after the other. One of the two
/// candidates is kept only if it is faster there than every baseline beyond noise. Where the objective is not time, it is kept only
/// if its objective is less than every baseline's. The fastest candidates of other ways to make room are then looked at besides.
/// `unavailable` where there is no energy counter then, before any search. The results of what is chosen are verified. The choice's
/// `stored_at` is the caller's to set. `failed` when nothing could be run.
ELBOWROOM_API Result<TunedCase> tune_case(Backend& backend, const Case& what, const TuneSettings& settings,
                                          const TuneProgress& progress);

}  // namespace elbowroom
