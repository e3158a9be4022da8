#include "run/trial_words.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <utility>

#include "elbowroom/report/trial_words.hpp"

namespace elbowroom {
namespace {

// In the order of the values.
constexpr std::array<std::string_view, 4> kStates = {run::kTrialOff, run::kTrialWaiting, run::kTrialTrying, run::kTrialSettled};
constexpr std::array<std::string_view, 4> kDeciders = {run::kDeciderNotKnown, run::kEachDecides, run::kDecidesHere,
                                                       run::kDecidesElsewhere};

/// The bit of a control; 0 for a word that is none.
unsigned bit_of(std::string_view word) {
  const auto found = std::ranges::find(run::kArmControls, word);
  return found == run::kArmControls.end() ? 0 : 1U << (found - run::kArmControls.begin());
}

}  // namespace

TrialState::TrialState(std::string_view word) : word_(std::string(word)) {
  const auto known = std::ranges::find(kStates, word);
  if (known != kStates.end()) { word_ = static_cast<Known>(known - kStates.begin()); }
}

std::string TrialState::text() const {
  const Known* const known = std::get_if<Known>(&word_);
  return known != nullptr ? std::string(kStates[*known]) : std::get<std::string>(word_);
}

Decider parse_decider(std::string_view word) {
  const auto known = std::ranges::find(kDeciders, word);
  return known == kDeciders.end() ? Decider::not_known : static_cast<Decider>(known - kDeciders.begin());
}

ArmControls::ArmControls(std::string text) : text_(std::move(text)), plain_(text_ == run::kPlainArm) {
  const std::string_view between = run::kBetweenControls;
  for (std::string_view rest = text_; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(between));
    controls_ |= bit_of(word);
    rest.remove_prefix(std::min(rest.size(), word.size() + between.size()));
  }
}

}  // namespace elbowroom
