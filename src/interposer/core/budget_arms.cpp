#include "interposer/core/budget_arms.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace elbowroom::interposer {
namespace {

constexpr unsigned kArms = static_cast<unsigned>(BudgetArms::kBlocks.size());

std::optional<unsigned> arm_of(std::uint8_t blocks) {
  const auto* const found = std::find(BudgetArms::kBlocks.begin(), BudgetArms::kBlocks.end(), blocks);
  if (found == BudgetArms::kBlocks.end()) { return std::nullopt; }
  return static_cast<unsigned>(found - BudgetArms::kBlocks.begin());
}

}  // namespace

void BudgetArms::begin(bool compares) {
  std::construct_at(this);  // no temporary, as in AbTrial
  compares_ = compares;
  trial_.begin(kArms);
}

void BudgetArms::on_pattern(std::uint64_t pattern, std::optional<std::uint8_t> remembered) {
  pattern_ = pattern;
  remembered_ = remembered;
  given_up_ = false;
  reason_ = compares_ ? Reason::nothing_asked : Reason::not_compared;
}

void BudgetArms::on_lost() {
  leave();
  pattern_ = 0;
}

unsigned BudgetArms::offered() const {
  unsigned arms = 1;
  unsigned tried = 0;
  for (unsigned arm = 1; arm < kArms && tried < kMostTried; ++arm) {
    if (kBlocks[arm] >= most_) { continue; }
    arms |= 1U << arm;
    ++tried;
  }
  return arms;
}

// What an earlier run kept was worth while to it.
BudgetArms::Reason BudgetArms::not_now(const StepFacts& facts, bool ready) const {
  if (offered() == 1) { return Reason::few_blocks; }
  if (!facts.beside && !remembered_) { return Reason::nothing_beside; }
  return facts.settled && ready ? Reason::none : Reason::others_differ;
}

void BudgetArms::enter() {
  const std::optional<unsigned> arm = remembered_ ? arm_of(*remembered_) : std::nullopt;
  trial_.on_pattern(pattern_, arm, offered());
  entered_ = true;
  waited_ = 0;
  wish_for_arm();
}

void BudgetArms::leave() {
  if (entered_) { trial_.on_lost(); }
  entered_ = false;
  value_ = 0;
}

void BudgetArms::wish_for_arm() {
  const bool settled = trial_.state() == AbTrial::State::settled;
  value_ = kBlocks[trial_.arm()] | (settled ? kBudgetKept : 0);
}

void BudgetArms::on_step_begun(const StepFacts& facts, const RankStanding& now) {
  const RankStanding before = std::exchange(before_, now);
  follows_ = now.follows;
  const std::uint64_t asked = now.asked - before.asked;
  if (!compares_) { return; }
  if (asked == 0) {
    leave();
    reason_ = Reason::nothing_asked;
    return;
  }
  if (follows_) {
    reason_ = Reason::none;
    follow(now.agreed);
    return;
  }
  if (given_up_) { return; }
  const bool ready = now.all_ready - before.all_ready == asked;
  if (!entered_) {
    reason_ = not_now(facts, ready);
    if (reason_ == Reason::none) { enter(); }
    return;
  }
  if (trying() && !(facts.settled && ready)) {
    leave();
    return;
  }
  if (now.as_wanted - before.as_wanted != asked) {
    given_up_ = ++waited_ == kMostWaiting;
    if (given_up_) {
      leave();
      reason_ = Reason::not_agreed;
    }
    return;
  }
  waited_ = 0;
  if (now.lowered != before.lowered) { trial_.on_acted(); }
  trial_.on_step_begun(facts.step);
  wish_for_arm();
}

// Blocks that are not kept are those of a comparison, which ends with some that are.
void BudgetArms::follow(std::uint32_t agreed) {
  if (!is_for(agreed, pattern_)) { return; }
  const auto blocks = static_cast<std::uint8_t>(agreed & kBudgetBlocks);
  if ((agreed & kBudgetKept) == 0) {
    saw_comparison_ = saw_comparison_ || blocks != 0;
    return;
  }
  const unsigned before = followed_pattern_ == pattern_ ? followed_.decisions : 0;
  followed_ = {blocks, {}, before + (saw_comparison_ ? 1 : 0)};
  followed_pattern_ = pattern_;
  saw_comparison_ = false;
}

std::optional<BudgetArms::Kept> BudgetArms::kept(std::uint64_t pattern) const {
  if (follows_) { return followed_pattern_ == pattern && pattern != 0 ? std::optional(followed_) : std::nullopt; }
  std::optional<Kept> found;
  trial_.for_each_choice([&](const AbTrial::Choice& choice) {
    if (choice.pattern == pattern) { found = Kept{kBlocks[choice.arm], choice.finding, choice.decisions}; }
  });
  return found;
}

const char* text(BudgetArms::Reason reason) {
  switch (reason) {
    case BudgetArms::Reason::none:
      return "";
    case BudgetArms::Reason::not_compared:
      return "no steps were found";
    case BudgetArms::Reason::nothing_asked:
      return "NCCL asked about no collective";
    case BudgetArms::Reason::few_blocks:
      return "no collective takes more than 4 blocks";
    case BudgetArms::Reason::nothing_beside:
      return "nothing ran beside a collective";
    case BudgetArms::Reason::others_differ:
      return "the ranks repeat different collectives";
    case BudgetArms::Reason::not_agreed:
      return "the ranks did not come to agree";
  }
  return "";
}

}  // namespace elbowroom::interposer
