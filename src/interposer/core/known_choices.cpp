#include "interposer/core/known_choices.hpp"

#include "interposer/core/policy.hpp"
#include "run/choices.hpp"

namespace elbowroom::interposer {
namespace {

std::optional<unsigned> arm_named(std::string_view name, const Rules& rules) {
  for (unsigned arm = 0; arm < trial_arms(rules); ++arm) {
    if (name == text_of_arm(rules, arm)) { return arm; }
  }
  return std::nullopt;
}

}  // namespace

std::optional<unsigned> known_arm(std::string_view text, const Repeated& repeated, const Rules& rules) {
  std::optional<unsigned> arm;
  run::ChoiceLines lines(text);
  while (const auto choice = lines.next()) {
    if (repeated.device.empty() || choice->device != repeated.device) { continue; }
    if (choice->library != repeated.library || choice->sequence != repeated.sequence) { continue; }
    arm = arm_named(choice->arm, rules);
  }
  return arm;
}

}  // namespace elbowroom::interposer
