#pragma once

#include <cstdint>

#include "interposer/core/core.hpp"
#include "interposer/core/expected_time.hpp"
#include "interposer/core/program_order.hpp"

namespace elbowroom::interposer {

struct Controls {
  bool priority = false;
  bool gate = false;
  bool shape = false;
  bool sm_target = false;
  [[nodiscard]] constexpr bool any() const { return priority || gate || shape || sm_target; }
  constexpr bool operator==(const Controls&) const = default;
};

/// A collective expected to end sooner is not waited for: a launch costs a tenth of that.
constexpr std::uint64_t kWorthGatingNs = 30'000;
/// Compute may be held back this long by a collective that is about to begin.
constexpr std::uint64_t kLateSlackNs = 20'000;
/// The first launches of each kind of collective get the priority attribute even before any compute was seen beside them.
constexpr std::uint64_t kFirstCompanions = 8;

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

/// A compute launch and a live collective that is not ordered before it.
struct GateQuestion {
  const Collective& collective;
  const LaunchFacts& facts;
  ContextId context = 0;
  std::uint32_t capture = 0;  ///< of the compute launch; 0: none
  Interval compute{};         ///< expected
  std::uint32_t sms = 0;      ///< that the compute launch can run on; 0: unknown
  /// Something is ordered before the collective, but not before the compute launch, and not known finished.
  bool collectives_between = false;
  /// Of collectives that may run when this one begins, at most: they are not ordered before the compute launch.
  std::uint64_t blocks_of_others = 0;
  bool event_taken = false;          ///< the collective's event was given to a later one
  bool capture_active = false;       ///< some stream of the process is being captured
  bool waits_captured = false;       ///< a wait for the host is in the compute launch's capture
  bool host_action_pending = false;  ///< outside captures
  bool order_lost = false;
  bool compares = false;  ///< auto, with a trial
};
/// Whether the compute launch may wait for the begin of the collective. docs/deadlock.md rests on these rules.
Refusal gate_refusal(const GateQuestion& question);

}  // namespace elbowroom::interposer
