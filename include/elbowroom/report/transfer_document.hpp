#pragma once

#include <optional>
#include <string>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/model/scenario.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "elbowroom/plan/scheme.hpp"
#include "elbowroom/report/origin.hpp"
#include "elbowroom/trace/summary.hpp"

namespace elbowroom {

/// How long one schedule takes, and how much that is beside the best of its case.
struct ComparedTime {
  Summary time;
  RatioSummary ratio;  ///< time / the best's, of the same rounds; the median is at least 1

  /// What the schedule takes more than the best, as a share of the best: 0.02 is 2 %.
  [[nodiscard]] double regret() const { return ratio.median - 1; }
};

/// What a case can run without any choice.
struct TransferBaseline {
  Scheme scheme = Scheme::concurrent;
  OverlapPlan plan;
  ComparedTime compared;
};

/// What the choice of one profile costs in a case. Either times or the reason why there are none.
struct Transferred {
  std::string profile;  ///< its name
  Scheme scheme = Scheme::tuned;
  OverlapPlan plan;                  ///< the stored controls, with the pad that this case's kernel needs
  std::vector<std::string> differs;  ///< how the case that it was made for is another one, in words; empty: it is this one
  std::optional<ComparedTime> compared;
  std::optional<std::string> refused;
};

struct TransferCase {
  Scenario scenario;
  std::string best;  ///< whose schedule had the least median: a baseline's or a profile's name
  OverlapPlan best_plan;
  Summary best_time;
  std::vector<TransferBaseline> baselines;
  std::vector<Transferred> transferred;  ///< one for each profile

  /// Whether some profile's choice was made for this very case and ran. If none was, the best is only the best of what came along.
  [[nodiscard]] ELBOWROOM_API bool knows_its_own() const;
};

struct TransferDocument {
  Origin origin;
  int trials = 1;
  std::vector<TransferCase> cases;
};

/// An `elbowroom.transfer/1` document.
ELBOWROOM_API std::string to_json(const TransferDocument& document);

/// A line for each schedule that ran, and why others did not. Every line but those of times begins with '#'.
ELBOWROOM_API std::string to_table(const TransferCase& found, const Origin& origin);

/// One table of all cases and profiles; it begins with where the figures come from.
ELBOWROOM_API std::string to_markdown(const TransferDocument& document);

}  // namespace elbowroom
