#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/base/time.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "elbowroom/plan/scheme.hpp"
#include "elbowroom/tune/profile_key.hpp"

namespace elbowroom {

/// How one kind of case is run best, and how well that was found to be.
struct StoredChoice {
  ProfileKey key;
  Scheme scheme = Scheme::tuned;  ///< a baseline where no other control was better beyond noise
  OverlapPlan plan;
  std::string reason;  ///< one line
  Microseconds time{0};
  Scheme baseline = Scheme::concurrent;  ///< the best baseline
  Microseconds baseline_time{0};
  int trials = 0;                    ///< over all candidates
  std::optional<CaseSize> made_for;  ///< absent in profiles of versions that did not keep it
  std::int64_t stored_at = 0;        ///< seconds since 1970

  bool operator==(const StoredChoice&) const = default;
};

/// Stored choices by key.
class Profile {
 public:
  /// Takes the place of a choice with the same key unless that one is newer.
  ELBOWROOM_API void put(StoredChoice choice);

  /// Null when there is none. Costs one hash and one comparison, well under 1 us, and allocates nothing. Valid until the next
  /// put().
  [[nodiscard]] ELBOWROOM_API const StoredChoice* find(const ProfileKey& key) const;

  /// In the order in which their keys came.
  [[nodiscard]] std::span<const StoredChoice> choices() const { return choices_; }

 private:
  std::vector<StoredChoice> choices_;
  std::unordered_map<ProfileKey, std::size_t, ProfileKeyHash> positions_;
};

inline constexpr std::string_view kProfileSchema = "elbowroom.profile/1";

/// Reads such a document. Another schema, unknown fields, wrong types and impossible values are `invalid_input` in one
/// line that begins with `source`. Never throws, whatever the text is. `durations`, which older versions kept, are passed over.
ELBOWROOM_API Result<Profile> parse_profile(std::string_view json, std::string_view source);

/// The same document back, a line for each choice.
ELBOWROOM_API std::string to_json(const Profile& profile);

}  // namespace elbowroom
