#include "interposer/core/ranks_in_step.hpp"

#include <algorithm>
#include <utility>

#include "interposer/core/table.hpp"

namespace elbowroom::interposer {

void RanksInStep::begin(bool possible, std::uint64_t arms) {
  *this = RanksInStep{};
  possible_ = possible;
  arms_ = arms;
}

void RanksInStep::on_pattern(std::uint64_t pattern, const RankStanding& now) {
  const bool asked = now.asked != before_.asked;
  before_ = now;
  pattern_ = pattern;
  counts_ = kept_ = saw_comparison_ = false;
  ask_again();
  fresh_ = true;
  if (!possible_ || !asked) {
    go_alone(Reason::no_ranks);
  } else if (!now.with_processes) {
    go_alone(Reason::one_process);
  } else if (const Apart* const known = find_apart()) {
    waited_ = known->waited;
    if (known->why != Reason::none) { go_alone(known->why); }
  }
}

void RanksInStep::on_lost() {
  if (pattern_ != 0 && mode_ != Mode::alone) { note_wait(mode_ == Mode::asks ? waited_ : 0, Reason::none); }
  pattern_ = 0;
  counts_ = kept_ = false;
}

void RanksInStep::go_alone(Reason reason) {
  mode_ = Mode::alone;
  reason_ = reason;
}

// When the repetition comes again, too: whoever asks anew each time would hold up the program's phases.
void RanksInStep::go_apart(Reason reason) {
  go_alone(reason);
  note_wait(waited_, reason);
}

// Of this repetition, over all the times that it breaks off.
void RanksInStep::note_wait(unsigned steps, Reason why) {
  if (Apart* const known = find_apart()) {
    *known = {pattern_, steps, why};
  } else if (steps > 0) {
    apart_[next_apart_++ % apart_.size()] = {pattern_, steps, why};
  }
}

RanksInStep::Apart* RanksInStep::find_apart() {
  auto* const known = std::find_if(apart_.begin(), apart_.end(), [&](const Apart& each) { return each.pattern == pattern_; });
  return known == apart_.end() ? nullptr : known;
}

void RanksInStep::ask_again() {
  mode_ = Mode::asks;
  waited_ = 0;
  kept_ = false;
}

void RanksInStep::on_step_begun(const RankStanding& now) {
  const RankStanding before = std::exchange(before_, now);
  counts_ = mode_ == Mode::alone;
  if (counts_ || std::exchange(fresh_, false)) { return; }
  const std::uint64_t asked = now.asked - before.asked;
  const bool ready = now.all_ready - before.all_ready == asked;
  if (asked == 0) {
    go_alone(Reason::no_ranks);
  } else if (mode_ == Mode::asks) {
    wait_for_others(now, ready);
  } else if (mode_ == Mode::follows) {
    go_on_following(now);
  } else if (now.follows) {
    ask_again();
  } else {
    go_on_deciding(ready, now.as_wanted - before.as_wanted == asked);
  }
  counts_ = counts_ || mode_ == Mode::alone;
}

void RanksInStep::wait_for_others(const RankStanding& now, bool ready) {
  if (now.follows && leads_here(now.agreed)) {
    mode_ = Mode::follows;
    waited_ = 0;
    saw_comparison_ = false;
    follow(now.agreed);
  } else if (!now.follows && ready) {
    mode_ = Mode::decides;
    waited_ = 0;
  } else if (++waited_ == kMostAsking) {
    go_apart(Reason::others_differ);
    return;
  } else {
    return;
  }
  reason_ = Reason::none;
}

void RanksInStep::go_on_deciding(bool ready, bool as_wanted) {
  if (!ready) {
    ask_again();
  } else if (as_wanted) {
    waited_ = 0;
    counts_ = true;
  } else if (++waited_ == kMostWaiting) {
    go_apart(Reason::not_agreed);
  }
}

// Whoever decides may be gone, and what it tried last would be in force for ever.
void RanksInStep::go_on_following(const RankStanding& now) {
  if (!now.follows || !leads_here(now.agreed)) {
    ask_again();
    return;
  }
  waited_ = now.agreed == last_ && (now.agreed & kArmKept) == 0 ? waited_ + 1 : 0;
  if (waited_ == kMostWaiting) {
    go_apart(Reason::not_agreed);
    return;
  }
  follow(now.agreed);
}

// An arm that is not kept is one of a comparison, which ends with some that is.
void RanksInStep::follow(std::uint32_t agreed) {
  last_ = agreed;
  kept_ = (agreed & kArmKept) != 0;
  if (!kept_) {
    saw_comparison_ = true;
    return;
  }
  const unsigned before = followed_.pattern == pattern_ && followed_.arm == agreed_arm(agreed) ? followed_.decisions : 0;
  followed_ = {pattern_, agreed_arm(agreed), before + (std::exchange(saw_comparison_, false) ? 1 : 0)};
}

std::uint64_t RanksInStep::ready() const { return pattern_ == 0 || mode_ == Mode::alone ? 0 : combine(pattern_, arms_) | 1U; }

std::uint32_t RanksInStep::value(unsigned arm, bool settled) const {
  if (mode_ != Mode::decides) { return 0; }
  return kArmShared | arm << kArmAt | (settled ? kArmKept : 0);
}

// Also while it is not known who decides: what holds for one rank from some collective on holds for all from there.
unsigned RanksInStep::arm(std::uint32_t agreed) const {
  return mode_ != Mode::alone && leads_here(agreed) ? agreed_arm(agreed) : 0;
}

std::optional<RanksInStep::Followed> RanksInStep::followed() const {
  return followed_.pattern == 0 ? std::nullopt : std::optional(followed_);
}

}  // namespace elbowroom::interposer
