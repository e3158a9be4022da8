#pragma once

#include <functional>
#include <optional>
#include <string>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/notice.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/case.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "elbowroom/plan/scheme.hpp"

namespace elbowroom {

class Backend;
class CaseTrials;
class Profile;
struct ControlSite;
struct KernelFootprint;
struct ProfileKey;
struct StoredChoice;
struct Surroundings;

/// What the scheme `tuned` runs in a case.
struct TunedPlan {
  Scheme scheme = Scheme::tuned;
  OverlapPlan plan;
  std::string note;  ///< where it comes from, one line
};

/// A stored plan is run once, since what a machine refuses may not show before.
using TunedPlans = std::function<Result<TunedPlan>(CaseTrials& trials)>;

/// Looks plans up in the profile; what it lacks, and everything without a profile, runs as safe_choice() says. A
/// profile that cannot be read is ignored, with one notice.
ELBOWROOM_API TunedPlans stored_plans(const Backend& backend, const std::optional<std::string>& profile_path,
                                      const NoticeSink& notice);

/// What a choice for the case is stored under. `compute` as profile_key(Scenario) has it; a step's kernels are the step's.
ELBOWROOM_API ProfileKey profile_key(const Case& what, const std::optional<KernelFootprint>& compute,
                                     const Surroundings& surroundings);

/// What the profile holds for a case at its site. `unavailable` says what it lacks and what the nearest choice is for, or that
/// the stored choice is for another balance of both sides; `invalid_input` that the stored plan cannot act at the site.
ELBOWROOM_API Result<StoredChoice> stored_choice(const Profile& profile, const Surroundings& surroundings, const Case& what,
                                                 const ControlSite& site);

/// What a choice that is made on the backend depends on.
ELBOWROOM_API Surroundings surroundings_of(const Backend& backend);

}  // namespace elbowroom
