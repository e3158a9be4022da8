#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/base/time.hpp"
#include "elbowroom/plan/control_site.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "elbowroom/plan/reason.hpp"
#include "elbowroom/plan/scheme.hpp"

namespace elbowroom {

/// One way to run a case.
struct Candidate {
  Scheme scheme = Scheme::tuned;  ///< the baseline that runs this plan, or `tuned` when none does
  OverlapPlan plan;
  Reason reason;
  std::optional<Microseconds> predicted;  ///< absent: nobody knows

  bool operator==(const Candidate&) const = default;
};

/// What a run would take. May cost milliseconds. An error means that it does not know this plan.
using Predictor = std::function<Result<Microseconds>(Scheme scheme, const OverlapPlan& plan)>;

/// What a machine adds to the rules of a site: success, or why it cannot carry the plan out.
using Acceptance = std::function<Status(const OverlapPlan& plan)>;

/// The plans that can act at a site. Plans that no baseline runs spare the launches outside of windows wherever that can matter.
class CandidateSpace {
 public:
  /// `accepts` absent: the site's rules alone count.
  ELBOWROOM_API explicit CandidateSpace(ControlSite site, Acceptance accepts = {})
      : site_(std::move(site)), accepts_(std::move(accepts)) {}

  /// The baselines and one plan for each other way to make room, the more promising first. They are worth a trial when nothing is
  /// known of the times. At most 24.
  [[nodiscard]] ELBOWROOM_API std::vector<Candidate> starts() const;

  /// Plans that differ from `plan` in one control by one step, in the order of controls().
  [[nodiscard]] ELBOWROOM_API std::vector<Candidate> neighbours(const OverlapPlan& plan) const;

  /// Every combination of the controls that neighbours() steps through, and the starts: what an exhaustive search would measure.
  /// Hundreds to thousands.
  [[nodiscard]] ELBOWROOM_API std::vector<Candidate> every() const;

  /// Names the scheme and the reason of a plan on two streams.
  [[nodiscard]] ELBOWROOM_API Candidate describe(const OverlapPlan& plan) const;

  [[nodiscard]] const ControlSite& site() const { return site_; }

 private:
  [[nodiscard]] bool can_act(const OverlapPlan& plan) const;
  /// `plan`, acting in windows only where that can matter and the machine does so.
  [[nodiscard]] OverlapPlan sparing(OverlapPlan plan) const;
  /// The same for most plans. Those of baselines act everywhere. So do those that give the collective more blocks than it has by
  /// itself: the last one would miss them.
  [[nodiscard]] OverlapPlan usual(OverlapPlan plan) const;
  void add(std::vector<OverlapPlan>& plans, const OverlapPlan& plan) const;
  [[nodiscard]] std::vector<OverlapPlan> started_plans() const;
  /// What symmetric memory is tried with first.
  [[nodiscard]] std::vector<OverlapPlan> symmetric_plans(const OverlapPlan& urgent, const OverlapPlan& gated) const;
  /// What copy engines are tried with first.
  [[nodiscard]] std::vector<OverlapPlan> plans_with_copies(const OverlapPlan& plain, const OverlapPlan& urgent,
                                                           const OverlapPlan& gated) const;

  ControlSite site_;
  Acceptance accepts_;
};

/// `plan`'s way to make room for the collective.
ELBOWROOM_API Reason reason_of(const ControlSite& site, const OverlapPlan& plan);

/// What a case runs out of first, in words: "link", "memory bandwidth", "SM slots", "registers, shared memory". The isolated times
/// tell whether communication or computation is the longer side; absent: not known.
ELBOWROOM_API std::string limiting_resource(const ControlSite& site, const Compute& compute,
                                            std::optional<Microseconds> compute_alone, std::optional<Microseconds> comm_alone);

}  // namespace elbowroom
