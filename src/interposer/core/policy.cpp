#include "interposer/core/policy.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "interposer/core/table.hpp"
#include "run/trial_words.hpp"

namespace elbowroom::interposer {
namespace {

bool has_rules_for_kernels(const Rules& rules) { return rules.has_targets() || rules.footprint_count > 0; }

/// Caps by name are no part of it: they were given for a policy that applies them uncompared.
Controls all_that_auto_may(const Rules& rules) { return {true, true, rules.footprint_count > 0, true}; }

Controls of_arm(const Rules& rules, unsigned arm) {
  if (arm >= 2 && arm + 1 >= trial_arms(rules)) { return all_that_auto_may(rules); }
  return {arm >= 1, arm >= 2, false, false};
}

Controls of_policy(const Rules& rules, unsigned arm) {
  switch (rules.policy) {
    case Policy::observe:
      return {};
    case Policy::priority:
      return {true, false, false, false};
    case Policy::gate:
      return {true, true, false, true};
    case Policy::shape:
      return {true, false, true, true};
    case Policy::automatic:
      return rules.trial ? of_arm(rules, arm) : all_that_auto_may(rules);
  }
  return {};
}

constexpr std::uint32_t kLeastGroup = 8;  ///< SMs of a group, within which the blocks of a cluster run

// Whether all blocks begin at once, whatever each takes of an SM: on one SM each. Clusters find theirs within a group of SMs, of
// which less than a cluster is left over. Groups are larger than clusters: of those that are free half or more hold some.
bool begins_at_once(const Collective& collective) {
  std::uint64_t left_over = 0;
  if (collective.cluster > 1) {
    left_over = std::max<std::uint64_t>(collective.blocks, std::uint64_t{collective.cluster - 1} * (collective.sms / kLeastGroup));
  }
  return collective.blocks + left_over <= collective.sms;  // no SMs: their number is not known
}

bool leaves_room(const GateQuestion& question) {
  return question.sms != 0 && question.facts.grid.count() + question.collective.blocks <= question.sms;
}

using ArmText = std::array<char, 40>;  // zero-terminated

/// Priority and what has its bit in `beside`: one each for gate, shape and SM target, as run::kArmControls has them behind it.
constexpr ArmText beside_priority(unsigned beside) {
  ArmText text{};
  std::size_t size = 0;
  const auto add = [&](std::string_view word) {
    for (const char c : word) { text[size++] = c; }
  };
  add(run::kArmControls[0]);
  for (std::size_t control = 1; control < run::kArmControls.size(); ++control) {
    if ((beside >> (control - 1) & 1U) == 0) { continue; }
    add(run::kBetweenControls);
    add(run::kArmControls[control]);
  }
  return text;
}

}  // namespace

unsigned trial_arms(const Rules& rules) {
  return 2 + static_cast<unsigned>(rules.gate) + static_cast<unsigned>(has_rules_for_kernels(rules));
}

const char* text_of_arm(const Rules& rules, unsigned arm) {
  static constexpr std::array<ArmText, 8> beside = {beside_priority(0), beside_priority(1), beside_priority(2), beside_priority(3),
                                                    beside_priority(4), beside_priority(5), beside_priority(6), beside_priority(7)};
  const Controls wanted = controls(rules, arm);
  if (!wanted.any()) { return run::kPlainArm; }
  const unsigned bits = (wanted.gate ? 1U : 0U) | (wanted.shape ? 2U : 0U) | (wanted.sm_target ? 4U : 0U);
  return beside[bits].data();
}

std::uint64_t hash_of_arms(const Rules& rules) {
  std::uint64_t hash = 0;
  for (unsigned arm = 0; arm < trial_arms(rules); ++arm) {
    for (const char* c = text_of_arm(rules, arm); *c != '\0'; ++c) { hash = combine(hash, static_cast<unsigned char>(*c)); }
    hash = combine(hash, arm);
  }
  return hash;
}

Controls controls(const Rules& rules, unsigned arm) {
  Controls wanted = of_policy(rules, arm);
  wanted.priority = wanted.priority && rules.priority;
  wanted.gate = wanted.gate && rules.gate;
  wanted.shape = wanted.shape && rules.has_caps();
  wanted.sm_target = wanted.sm_target && rules.has_targets();
  return wanted;
}

// In order of price.
Refusal gate_refusal(const GateQuestion& question) {
  const Collective& collective = question.collective;
  if (leaves_room(question)) { return Refusal::small_compute; }
  if (question.order_lost) { return Refusal::order_lost; }
  if (question.capture_active) { return Refusal::other_capture; }
  if (collective.context != question.context) { return Refusal::other_context; }
  if (!collective.launched || !collective.has_begin) { return Refusal::no_event; }
  // It would tell of its begin when its last blocks begin, and these may wait for blocks that wait for other ranks.
  if (!begins_at_once(collective)) { return Refusal::several_waves; }
  if (collective.is_short) { return Refusal::short_collective; }
  // Other ranks, or the host, may join it only when they are told that the compute launch has ended.
  return question.queued ? Refusal::queued_collective : Refusal::none;
}

}  // namespace elbowroom::interposer
