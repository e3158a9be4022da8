#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/backend/backend.hpp"
#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/report/transfer_document.hpp"
#include "elbowroom/tune/profile.hpp"

namespace elbowroom {

/// A profile and what reports call it.
struct NamedProfile {
  std::string name;
  Profile profile;
};

struct TransferSettings {
  std::vector<NamedProfile> profiles;
  int trials = 10;  ///< counted; half as many rounds before them are warm-up
  std::uint64_t seed = 1;
};

/// The choice of the profile that was made for the nearest case, of the same kind of kernel and the same operation. That is the one
/// with the fewest differences(), of those the one whose sizes are nearest, of those the first. Null where there is none. Valid as
/// long as `profile` stays as it is.
ELBOWROOM_API const StoredChoice* nearest_choice(const Profile& profile, const ProfileKey& key);

/// Times the plan that each profile offers beside the baselines, all in the same rounds, and compares each with the best of all of
/// them. A stored cap is reached with the pad that this case's kernel needs. What a profile lacks, and a plan that cannot act here,
/// is a row with its reason. A wrong result or a device error is an Error. Costs a run for each cap of the shaped baselines and a
/// verification for each plan. All schedules then run in one and a half times `trials` rounds. `before` is told before each step
/// what it is, and an error of it ends the case.
ELBOWROOM_API Result<TransferCase> transfer_case(Backend& backend, const Scenario& scenario, const TransferSettings& settings,
                                                 const std::function<Status(std::string_view)>& before);

}  // namespace elbowroom
