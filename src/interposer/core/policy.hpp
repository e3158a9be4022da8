#pragma once

#include <cstdint>

#include "interposer/core/core.hpp"
#include "interposer/core/lanes.hpp"

namespace elbowroom::interposer {

struct Controls {
  bool priority = false;
  bool gate = false;
  bool shape = false;
  bool sm_target = false;
  [[nodiscard]] constexpr bool any() const { return priority || gate || shape || sm_target; }
  constexpr bool operator==(const Controls&) const = default;
};

/// A collective of fewer bytes is not waited for: a launch costs a tenth of what it lasts.
constexpr std::uint64_t kWorthGatingBytes = std::uint64_t{256} * 1024;
/// Blocks of high priority leave room for clusters up to this size.
constexpr std::uint32_t kMostCluster = 4;

/// `auto` compares: 0 the program as it is, 1 priority, 2 and the gate, 3 and what rules give for single kernels. Those are caps by
/// footprint and SM targets, all at once. A target may let the library choose another algorithm, so auto never turns one on by
/// itself.
unsigned trial_arms(const Rules& rules);
const char* text_of_arm(const Rules& rules, unsigned arm);
/// The same in all processes that compare the same arms.
std::uint64_t hash_of_arms(const Rules& rules);
/// What the policy wants, within the rules; `arm` counts for auto alone.
Controls controls(const Rules& rules, unsigned arm);

/// Whether the process compares arms and keeps what it finds best.
constexpr bool compares(const Rules& rules) { return rules.policy == Policy::automatic && rules.trial; }

/// A compute launch and the newest collective of its device, which it need not be behind.
struct GateQuestion {
  const Collective& collective;
  const LaunchFacts& facts;
  ContextId context = 0;
  std::uint32_t sms = 0;        ///< that the compute launch can run on; 0: unknown
  bool queued = false;          ///< some other collective has not ended, and the compute launch need not be behind it
  bool capture_active = false;  ///< some stream of the process is being captured
  bool order_lost = false;      ///< more streams carry collectives than there are lanes
};
/// Whether the compute launch may wait for the begin of the collective. docs/deadlock.md rests on these rules.
Refusal gate_refusal(const GateQuestion& question);

}  // namespace elbowroom::interposer
