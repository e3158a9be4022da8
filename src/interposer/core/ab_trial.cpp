#include "interposer/core/ab_trial.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <numbers>
#include <numeric>
#include <utility>

#include "interposer/core/student_t.hpp"
#include "interposer/core/table.hpp"

namespace elbowroom::interposer {
namespace {

bool is_in(unsigned arms, unsigned arm) { return (arms >> arm & 1U) != 0; }

// The order that is common to all processes. Of 20,000 it is the first that begins with the program as it is, and hardly resembles
// itself where one process is some blocks behind another.
constexpr std::uint64_t kTogether = 16198;

// As a difference of logarithms. The program as it is need only be faster.
double least_gain(unsigned arm) { return arm == 0 ? 0.0 : -std::log(1.0 - AbTrial::kLeastGain); }

}  // namespace

std::uint64_t AbTrial::recheck_after(std::uint64_t pattern) { return kRecheck + kTurn * (mix(pattern) % kTurns); }

std::uint64_t AbTrial::check_after(std::uint64_t pattern) { return kTurn * (1 + mix(pattern) % kCheckTurns); }

void AbTrial::begin(unsigned arms) {
  std::construct_at(this);  // no temporary: it has no room on a small stack
  arms_ = std::clamp(arms, 1U, kMaxArms);
}

void AbTrial::on_pattern(std::uint64_t pattern, std::optional<unsigned> remembered, unsigned offered) {
  const auto same = [&](const Phase& phase) { return phase.state != State::waiting && phase.pattern == pattern; };
  const auto known = std::find_if(phases_.begin(), phases_.end(), same);
  const auto oldest = [](const Phase& a, const Phase& b) { return a.entered_at < b.entered_at; };
  const auto place = known != phases_.end() ? known : std::min_element(phases_.begin(), phases_.end(), oldest);
  now_ = static_cast<unsigned>(place - phases_.begin());
  lost_ = false;
  place->entered_at = ++changes_;
  if (known == phases_.end()) {
    forgotten_ += place->state == State::waiting ? 0 : 1;
    forget_steps(*place, [](const Awaited&) { return true; });
    std::construct_at(&*place);
    place->pattern = pattern;
    place->entered_at = changes_;
    place->offered = offered;
    if (forgotten_ >= kMostForgotten) {
      start_later(*place);
    } else if (remembered) {
      start_with(*place, *remembered);
    } else {
      start_trial(*place);
    }
  } else if (place->state == State::settled) {
    place->arm = place->chosen;
  }
}

// The last step that was begun has no end, so its block is begun anew: the one before, where a block had just been left. Where the
// repetition breaks off sooner than a block takes, that would go on for ever.
void AbTrial::on_lost() {
  Phase& lost = phase();
  lost_ = true;
  const bool breaks = lost.steps > 0 || lost.open;
  if (lost.state == State::trying && !lost.left && breaks) {
    if (++lost.broken == kMostBroken) {
      start_again(lost);
    } else {
      start_block(lost, lost.open ? lost.before : lost.now);
    }
  }
  lost.arm = 0;
}

void AbTrial::on_step_begun(std::uint64_t step) {
  Phase& now = phase();
  if (now.state == State::waiting || lost_) { return; }
  if (now.state == State::settled) {
    if (now.unmeasured == kMostUnmeasured || ++now.after < until_next(now)) { return; }
    start_trial(now);
  }
  Awaited& slot = awaited_[step % kMostAhead];
  if (slot.step != 0) {  // its time never came, nor will its block's
    Phase& of = phases_[std::exchange(slot, {}).phase];
    if (of.state == State::trying) { start_again(of); }
    if (now.state == State::settled) { return; }
  }
  if (std::exchange(now.open, false)) { now.broken = 0; }
  if (now.steps == 0 && now.now.nth == 1) {
    drop_arms(now);
    if (now.state == State::settled) { return; }
  }
  if (now.now.round == kRounds) {
    now.arm = now.chosen;  // until the last times are known
    now.left = true;
    ++now.after;
    return;
  }
  now.arm = now.now.arm;
  if (++now.steps > kSettling) {
    slot = {static_cast<std::uint32_t>(step), static_cast<std::uint8_t>(now_), static_cast<std::uint8_t>(now.now.round),
            static_cast<std::uint8_t>(now.now.arm)};
  }
  if (now.steps == kSettling + kMeasured) { next_block(now); }
}

void AbTrial::on_acted() {
  if (!lost_) { phase().acted |= 1U << phase().arm; }
}

void AbTrial::on_step_time(std::uint64_t step, std::uint64_t nanoseconds) {
  Awaited& slot = awaited_[step % kMostAhead];
  if (step == 0 || slot.step != step) { return; }
  const Awaited of = std::exchange(slot, {});
  Phase& phase = phases_[of.phase];
  Block& block = phase.blocks[of.round][of.arm];
  block.times[block.counted++] = static_cast<float>(nanoseconds);
  if (phase.state == State::trying && phase.now.round == kRounds && known(phase, kRounds)) {
    choose(phase, best_proven(phase, kRounds), kRounds);
  }
}

void AbTrial::on_step_lost(std::uint64_t step) {
  const Awaited& slot = awaited_[step % kMostAhead];
  if (step == 0 || slot.step != step) { return; }
  if (Phase& phase = phases_[slot.phase]; phase.state == State::trying) { start_again(phase); }
}

// What an earlier run settled for begins with a count of its own.
std::uint64_t AbTrial::until_next(const Phase& phase) {
  if (phase.ended == 0) { return kRecheck; }
  return phase.unchecked ? check_after(phase.pattern) : recheck_after(phase.pattern);
}

void AbTrial::start_with(Phase& phase, unsigned remembered) {
  phase.state = State::settled;
  phase.arm = phase.chosen = remembered;
  phase.remembered = remembered;
  phase.unchecked = true;
  phase.after = remembered == 0 ? 0 : kRecheck - kCheckSoon;
}

void AbTrial::start_later(Phase& phase) { phase.state = State::settled; }

template <class Matches>
void AbTrial::forget_steps(const Phase& phase, Matches matches) {
  for (Awaited& slot : awaited_) {
    if (slot.step != 0 && slot.phase == number_of(phase) && matches(slot)) { slot = {}; }
  }
}

void AbTrial::start_trial(Phase& phase) {
  phase.state = State::trying;
  phase.measured = ((1U << arms_) - 1) & (phase.offered | 1U << phase.chosen);
  phase.acted = 0;
  phase.blocks.fill({});
  forget_steps(phase, [](const Awaited&) { return true; });
  phase.order.draw(phase.ended == 0 ? kTogether : combine(phase.pattern, phase.ended));
  phase.now = first(phase, 0);
  phase.steps = phase.broken = 0;
  phase.after = 0;
  phase.open = phase.left = false;
}

// Steps whose first collective is on one stream and then on another have no time, say.
void AbTrial::start_again(Phase& phase) {
  if (++phase.unmeasured == kMostUnmeasured) {
    leave_alone(phase);
  } else {
    start_trial(phase);
  }
}

void AbTrial::leave_alone(Phase& phase) {
  phase.arm = phase.chosen = 0;
  phase.result.fill(0);
  phase.findings.fill({});
  phase.decisions = 0;
  phase.unchecked = false;
  phase.state = State::settled;
}

void AbTrial::start_block(Phase& phase, Place block) {
  forget_steps(phase, [&](const Awaited& step) { return step.round == block.round && step.arm == block.arm; });
  phase.blocks[block.round][block.arm] = {};
  phase.now = block;
  phase.steps = 0;
  phase.open = false;
}

void AbTrial::next_block(Phase& phase) {
  phase.before = phase.now;
  phase.now = after(phase, phase.now);
  phase.steps = 0;
  phase.open = true;
}

AbTrial::Place AbTrial::first(const Phase& phase, unsigned round) {
  if (round == kRounds) { return {round, 0, 0}; }
  unsigned place = 0;
  const unsigned of_order = round % ArmOrder::kRounds;
  while (!is_in(phase.measured, phase.order.arm_at(of_order, place))) { ++place; }
  return {round, 0, phase.order.arm_at(of_order, place)};
}

AbTrial::Place AbTrial::after(const Phase& phase, Place block) {
  const unsigned of_order = block.round % ArmOrder::kRounds;
  for (unsigned place = phase.order.place_of(of_order, block.arm) + 1; place < kMaxArms; ++place) {
    const unsigned arm = phase.order.arm_at(of_order, place);
    if (is_in(phase.measured, arm)) { return {block.round, block.nth + 1, arm}; }
  }
  return first(phase, block.round + 1);
}

bool AbTrial::known(const Phase& phase, unsigned rounds) {
  for (unsigned round = 0; round < rounds; ++round) {
    for (unsigned arm = 0; arm < kMaxArms; ++arm) {
      if (is_in(phase.measured, arm) && phase.blocks[round][arm].counted < kMeasured) { return false; }
    }
  }
  return true;
}

// By the rounds whose times are all known: the host may be several ahead.
void AbTrial::drop_arms(Phase& phase) {
  const unsigned over = phase.now.round;
  if (over == 0) { return; }
  unsigned rounds = over;
  while (rounds > 0 && !known(phase, rounds)) { --rounds; }
  unsigned in_question = 0;
  for (unsigned arm = 0; arm < arms_; ++arm) {
    if (arm == phase.chosen || !is_in(phase.measured, arm)) { continue; }
    const bool idle = arm != 0 && !is_in(phase.acted, arm);
    if (!idle && (rounds < kFirstLook || !futile(phase, arm, rounds))) {
      ++in_question;
    } else if (arm != 0) {
      note_finding(phase, arm, idle ? 0 : rounds);
      phase.measured &= ~(1U << arm);
    }
  }
  if (in_question == 0) {
    choose(phase, phase.chosen, rounds);
  } else if (choose_proven(phase, rounds)) {
    return;
  } else if (!is_in(phase.measured, phase.now.arm)) {
    phase.now = after(phase, phase.now);
  }
}

// The logarithm of the mean, since a repetition may be taken several at a time and a step then ends anywhere in the program's own:
// what an arm gains shows in some of its steps alone. Of a hiccup a quarter of a step counts.
double AbTrial::time_of(const Phase& phase, unsigned round, unsigned arm) {
  std::array<float, kMeasured> times = phase.blocks[round][arm].times;
  std::sort(times.begin(), times.end());
  times.back() = std::min(times.back(), kMostOfHiccup * times[kMeasured - 2]);
  return std::log(std::max(1.0, std::accumulate(times.begin(), times.end(), 0.0) / kMeasured));
}

AbTrial::Difference AbTrial::difference(const Phase& phase, unsigned arm, unsigned from, unsigned rounds) {
  std::array<double, kRounds> of_round{};
  double sum = 0.0;
  for (unsigned round = 0; round < rounds; ++round) {
    of_round[round] = time_of(phase, round, arm) - time_of(phase, round, from);
    sum += of_round[round];
  }
  const double mean = sum / rounds;
  double squares = 0.0;
  for (unsigned round = 0; round < rounds; ++round) { squares += (of_round[round] - mean) * (of_round[round] - mean); }
  const double spread = std::max(kLeastSpread, std::sqrt(squares / (rounds - 1)));
  return {mean, spread, spread / std::sqrt(static_cast<double>(rounds))};
}

// The chances of error of the decisions 1, 2, 3, ... are kError 6 / pi^2 times 1, 1/4, 1/9, ..., which add up to kError.
double AbTrial::error_of_one() const {
  const double count = decisions_ + 1;
  return kError * 6.0 / (std::numbers::pi * std::numbers::pi) / (count * count) / (arms_ - 1) / kLooks.size();
}

bool AbTrial::proven(const Phase& phase, unsigned arm, unsigned rounds) const {
  const Difference longer = difference(phase, arm, phase.chosen, rounds);
  if (arm != 0 && -longer.mean < least_gain(arm)) { return false; }
  return upper_tail(-longer.mean / longer.error, rounds - 1) < error_of_one();
}

unsigned AbTrial::best_proven(const Phase& phase, unsigned rounds) const {
  unsigned best = phase.chosen;
  for (unsigned arm = 0; arm < arms_; ++arm) {
    if (arm == phase.chosen || !is_in(phase.measured, arm) || !proven(phase, arm, rounds)) { continue; }
    if (best == phase.chosen || difference(phase, arm, best, rounds).mean < -least_gain(arm)) { best = arm; }
  }
  return best;
}

// All rounds would have to show a gain that is out of reach, if they go on to differ as the first ones do. Out of reach is more
// than one and a half errors above what these show. One error loses a gain of 2 % in 33 more of 1,000 replays.
bool AbTrial::futile(const Phase& phase, unsigned arm, unsigned rounds) const {
  const Difference longer = difference(phase, arm, phase.chosen, rounds);
  const double error_at_the_end = longer.spread / std::sqrt(static_cast<double>(kRounds));
  const double needed = std::max(least_gain(arm), critical_value(error_of_one(), kRounds - 1) * error_at_the_end);
  return -longer.mean + 1.5 * longer.error < needed;
}

// An interval needs two rounds.
void AbTrial::note_finding(Phase& phase, unsigned arm, unsigned rounds) {
  phase.result[arm] = 0;
  phase.findings[arm] = {};
  if (rounds == 0) { return; }
  double sum = 0.0;
  for (unsigned round = 0; round < rounds; ++round) { sum += time_of(phase, round, arm); }
  phase.result[arm] = static_cast<std::uint64_t>(std::llround(std::exp(sum / rounds)));
  if (arm == 0 || rounds < 2) { return; }
  const Difference longer = difference(phase, arm, 0, rounds);
  const double width = critical_value(0.025, rounds - 1) * longer.error;
  phase.findings[arm] = {1.0 - std::exp(longer.mean), 1.0 - std::exp(longer.mean + width), 1.0 - std::exp(longer.mean - width)};
}

// By the rounds of the last look alone: more rounds would be a look of their own.
bool AbTrial::choose_proven(Phase& phase, unsigned rounds) {
  const auto later = std::upper_bound(kLooks.begin(), kLooks.end(), rounds);
  if (later == kLooks.begin()) { return false; }
  const unsigned seen = *std::prev(later);
  const unsigned best = best_proven(phase, seen);
  if (best == phase.chosen) { return false; }
  for (unsigned arm = 0; arm < arms_; ++arm) {
    const bool rival = arm != phase.chosen && arm != best && is_in(phase.measured, arm);
    if (rival && difference(phase, arm, best, seen).mean < -least_gain(arm)) { return false; }
  }
  choose(phase, best, seen);
  return true;
}

void AbTrial::choose(Phase& phase, unsigned chosen, unsigned rounds) {
  for (unsigned arm = 0; arm < arms_; ++arm) {
    if (is_in(phase.measured, arm)) { note_finding(phase, arm, rounds); }
  }
  settle(phase, chosen);
}

// A choice must gain in the next trial too, and in one of this repetition's own: in the first one it may be the others that gain.
// From then on it stays until another arm is proven faster.
void AbTrial::settle(Phase& phase, unsigned chosen) {
  ++decisions_;
  ++phase.ended;
  const bool gains = phase.findings[chosen].gain > 0.0 && is_in(phase.acted, chosen);
  if (phase.unchecked && chosen == phase.chosen && !gains) { chosen = 0; }
  const bool was_first = phase.ended == 1;
  phase.unchecked = chosen != 0 && (chosen != phase.chosen || was_first);
  phase.decisions = chosen == phase.chosen ? phase.decisions + 1 : 1;
  phase.chosen = phase.arm = chosen;
  phase.state = State::settled;
  phase.unmeasured = 0;
}

}  // namespace elbowroom::interposer
