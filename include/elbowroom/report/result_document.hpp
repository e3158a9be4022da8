#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/time.hpp"
#include "elbowroom/energy/scheme_energy.hpp"
#include "elbowroom/model/case.hpp"
#include "elbowroom/plan/hardware_limit.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "elbowroom/report/origin.hpp"
#include "elbowroom/trace/overlap_metrics.hpp"
#include "elbowroom/trace/summary.hpp"

namespace elbowroom {

/// What one scheme reached in one case.
struct SchemeResult {
  std::string scheme;
  OverlapPlan plan;
  Summary time;
  std::optional<RatioSummary> ratio;  ///< interval of time_ratio from paired trials; absent for `sequential` itself
  OverlapMetrics metrics;
  std::optional<std::string> limited_by = {};         ///< resource that limits the compute kernel's residency; absent: not known
  std::optional<std::string> note = {};               ///< one line for the reader
  std::optional<SchemeEnergy> energy = std::nullopt;  ///< absent: not asked for, or CaseResult::no_energy says why
};

/// A scheme that could not act on the case's kernels.
struct Refusal {
  std::string scheme;
  std::string reason;
  bool asked_for = false;  ///< by the user, as a plan or as the only schemes to run: the other results are no answer to that
};

/// One case under several schemes. A member that could not be had is absent; no zero stands in for it.
struct CaseResult {
  Case what;
  std::optional<Microseconds> critical_path;    ///< the schedule's length with each operation at its isolated time
  std::optional<HardwareLimit> hardware_limit;  ///< absent: the catalog does not have the device
  std::optional<Summary> compute_alone;         ///< all iterations
  std::optional<Summary> comm_alone;            ///< all iterations
  std::vector<SchemeResult> results;
  std::vector<Refusal> refusals;
  std::optional<std::string> no_energy = {};  ///< why joules that were asked for are absent
};

/// A bench run: all cases come from one origin, so measured and simulated figures cannot meet in one document.
struct ResultDocument {
  Origin origin;
  std::vector<CaseResult> cases;
};

/// The result with the least median time, the earlier one of equals. Null when there is none. Null also where something that was
/// asked for was refused: nothing else is the best then.
ELBOWROOM_API const SchemeResult* best_result(const CaseResult& result);

inline constexpr std::string_view kResultSchema = "elbowroom.result/1";

/// Such a document, fields in the order of the contract, times in microseconds. Absent and non-finite values
/// are null; text that is not UTF-8 is written with replacement characters. `indent` as in to_json(Scenario).
ELBOWROOM_API std::string to_json(const ResultDocument& document, int indent = 2);

}  // namespace elbowroom
