#pragma once

#include <compare>
#include <optional>
#include <string>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/plan/launch_settings.hpp"

namespace elbowroom {

/// One value for each control: what launches get, and what only lower() reads. The default plan changes nothing. Plans are data:
/// making one costs nothing and acts on nothing; only a Backend acts.
struct OverlapPlan : ComputeSettings, CommSettings {
  std::optional<BlocksPerSm> blocks_per_sm;  ///< residency that `pad` enforces; absent: not shaped
  bool priority = false;                     ///< communication stream at the device's greatest priority
  bool launch_gate = false;                  ///< compute waits until the collective's blocks are resident
  /// SMs set aside for the collective in a partition of its own (a green context; on AMD, a CU mask on compute's stream); compute
  /// gets the others. Absent: no partition.
  std::optional<Sms> comm_sms;
  /// Launches that nothing of the other side can run beside run as they are by themselves. Of a pipeline these are the first
  /// compute kernel and the last collective. They would only pay for room that nobody uses. Costs a second communicator.
  bool windows_only = false;

  auto operator<=>(const OverlapPlan&) const = default;
};

/// What the plan sets, for a sentence: "priority, 24 comm blocks, cluster 1, SM target 108"; "no control" for the empty plan.
ELBOWROOM_API std::string in_words(const OverlapPlan& plan);

}  // namespace elbowroom
