#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "elbowroom/backend/backend.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/plan/candidates.hpp"
#include "elbowroom/tune/profile_key.hpp"

namespace elbowroom {

/// What the scheme `tuned` runs in a case.
struct TunedPlan {
  Scheme scheme = Scheme::tuned;
  OverlapPlan plan;
  std::string note;  ///< where it comes from, one line
};

/// The workload is that of the scenario; a stored plan is run once, since what a machine refuses may not show before.
using TunedPlans = std::function<Result<TunedPlan>(const Scenario& scenario, Workload& workload)>;

/// Looks plans up in the profile; what it lacks, and everything without a profile (an empty path), runs as safe_choice() says.
TunedPlans stored_plans(const Backend& backend, const std::string& profile_path);

/// The option's value, or else that of ELBOWROOM_PROFILE; empty: neither is given.
std::string profile_path(const std::string& option);

/// When something is stored.
std::int64_t seconds_since_1970();

Surroundings surroundings_of(const Backend& backend);

/// What the simulator says of a case on a device that it knows; empty for other devices. A question costs the simulation of 24 iterations at
/// most: of longer cases the rest is taken to go on as these did (5 % off where collectives wait
/// for SMs that a GEMM holds: no two such steps are alike).
Predictor simulated_times(const Scenario& scenario, const DeviceLimits& device);

}  // namespace elbowroom
