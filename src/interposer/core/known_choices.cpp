#include "interposer/core/known_choices.hpp"

#include <charconv>
#include <cstdio>
#include <cstring>

#include "interposer/core/policy.hpp"
#include "run/choices.hpp"
#include "run/trial_words.hpp"

namespace elbowroom::interposer {
namespace {

/// The blocks at the end of a name, which is left without them; 0: there are none.
std::uint8_t take_blocks(std::string_view& name) {
  const std::size_t at = name.rfind(run::kBudgetOfArm);
  if (at == std::string_view::npos || (at != 0 && !name.substr(0, at).ends_with(run::kBetweenControls))) { return 0; }
  const std::string_view number = name.substr(at + std::string_view(run::kBudgetOfArm).size());
  std::uint8_t blocks = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), blocks);
  if (error != std::errc() || end != number.data() + number.size()) { return 0; }
  name = at == 0 ? run::kPlainArm : name.substr(0, at - std::string_view(run::kBetweenControls).size());
  return blocks;
}

std::optional<KnownArm> arm_named(std::string_view name, const Rules& rules) {
  const std::uint8_t blocks = take_blocks(name);
  for (unsigned arm = 0; arm < trial_arms(rules); ++arm) {
    if (name == text_of_arm(rules, arm)) { return KnownArm{arm, blocks}; }
  }
  return std::nullopt;
}

}  // namespace

ArmName arm_name(const char* controls, std::uint8_t blocks) {
  ArmName name{};
  if (blocks == 0) {
    std::snprintf(name.data(), name.size(), "%s", controls);
  } else if (std::string_view(controls) == run::kPlainArm) {
    std::snprintf(name.data(), name.size(), "%s%u", run::kBudgetOfArm, static_cast<unsigned>(blocks));
  } else {
    std::snprintf(name.data(), name.size(), "%s%s%s%u", controls, run::kBetweenControls, run::kBudgetOfArm,
                  static_cast<unsigned>(blocks));
  }
  return name;
}

std::optional<KnownArm> known_arm(std::string_view text, const Repeated& repeated, const Rules& rules) {
  std::optional<KnownArm> arm;
  run::ChoiceLines lines(text);
  while (const auto choice = lines.next()) {
    if (repeated.device.empty() || choice->device != repeated.device) { continue; }
    if (choice->library != repeated.library || choice->sequence != repeated.sequence) { continue; }
    arm = arm_named(choice->arm, rules);
  }
  return arm;
}

}  // namespace elbowroom::interposer
