#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/quantities.hpp"

namespace elbowroom {

/// How a plan makes room for the collective.
enum class RoomMaking {
  no_overlap,
  as_launched,
  order_only,
  smaller_collective,
  co_resident,
  drains_sooner,
  sm_split,             ///< a library's product leaves SMs out
  sm_partition,         ///< each side has SMs of its own
  copy_engines,         ///< no SM is needed but for the copy within the device, a kernel
  copy_engines_first,   ///< which goes first
  copy_engines_capped,  ///< which lies among capped blocks
  copy_engines_detour,  ///< which is there no more
};

/// SMs that each side has to itself.
struct SmShares {
  Sms compute{};
  Sms comm{};

  bool operator==(const SmShares&) const = default;
};

/// A way to make room with what shapes it. Plans of equal reasons make room in the same way, and one may stand for all.
struct Reason {
  RoomMaking way = RoomMaking::as_launched;
  std::optional<SmShares> shares = {};  ///< of a split or a partition, and of no other
  bool symmetric = false;               ///< kernels of the collective work on symmetric memory
  bool copies_gather = false;           ///< copy engines do the half of an all-reduce that adds nothing

  bool operator==(const Reason&) const = default;
};

/// "co-resident", "SM split 108 + 24, symmetric memory": for people, and in documents.
ELBOWROOM_API std::string in_words(const Reason& reason);

/// What in_words() writes; absent for other texts.
ELBOWROOM_API std::optional<Reason> parse_reason(std::string_view words);

}  // namespace elbowroom
