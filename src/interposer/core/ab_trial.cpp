#include "interposer/core/ab_trial.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "interposer/core/student_t.hpp"

namespace elbowroom::interposer {

void AbTrial::begin(unsigned arms) {
  *this = AbTrial{};
  arms_ = std::clamp(arms, 1U, kMaxArms);
}

void AbTrial::on_pattern(std::uint64_t pattern) {
  const auto same = [&](const Phase& phase) { return phase.state != State::waiting && phase.pattern == pattern; };
  const auto known = std::find_if(phases_.begin(), phases_.end(), same);
  const auto oldest = [](const Phase& a, const Phase& b) { return a.entered_at < b.entered_at; };
  const auto place = known != phases_.end() ? known : std::min_element(phases_.begin(), phases_.end(), oldest);
  now_ = static_cast<unsigned>(place - phases_.begin());
  lost_ = false;
  place->entered_at = ++changes_;
  if (known == phases_.end()) {
    *place = Phase{};
    place->pattern = pattern;
    place->entered_at = changes_;
    start_trial(*place);
  } else if (place->state == State::settled) {
    place->arm = place->chosen;
  }
}

// The last step that was begun has no end, so its block is begun anew: the one before, where a block had just been left.
void AbTrial::on_lost() {
  Phase& lost = phase();
  lost_ = true;
  lost.arm = 0;
  if (lost.state != State::trying || lost.left) {
    lost.after = 0;
  } else if (lost.steps > 0 || lost.block > 0) {
    start_block(lost, lost.steps > 0 ? lost.block : lost.block - 1);
  }
}

void AbTrial::on_step_begun(std::uint64_t step) {
  Phase& now = phase();
  if (now.state == State::waiting || lost_) { return; }
  const auto given_up = [&] { return now.unmeasured == kMostUnmeasured; };
  if (now.state == State::settled) {
    if (given_up() || ++now.after < kRecheck) { return; }
    start_trial(now);
  }
  Awaited& slot = now.awaited[step % kMostAhead];
  if (slot.step != 0) {  // its time never came, nor will its block's
    ++now.unmeasured;
    if (given_up()) {
      leave_alone(now);
      return;
    }
    start_trial(now);
  }
  if (now.block == blocks()) {
    now.arm = now.chosen;  // until the last times are known
    now.left = true;
    ++now.after;
    return;
  }
  now.arm = arm_of_block(now.block);
  if (++now.steps > kSettling) { slot = {step, now.block}; }
  if (now.steps < kSettling + kMeasured) { return; }
  ++now.block;
  now.steps = 0;
}

void AbTrial::on_step_time(std::uint64_t step, std::uint64_t nanoseconds) {
  if (step == 0) { return; }
  for (Phase& phase : phases_) {
    Awaited& slot = phase.awaited[step % kMostAhead];
    if (slot.step != step) { continue; }
    Block& block = phase.blocks[slot.block];
    slot = {};
    block.times[block.counted++] = nanoseconds;
    if (block.counted == kMeasured && ++phase.complete == blocks()) { choose(phase); }
    return;
  }
}

void AbTrial::start_trial(Phase& phase) const {
  phase.state = State::trying;
  phase.complete = 0;
  phase.blocks.fill({});
  phase.awaited.fill({});
  phase.block = 0;
  phase.steps = 0;
  phase.after = 0;
  phase.left = false;
}

// Steps that begin with the launch of a graph, say, have no time.
void AbTrial::leave_alone(Phase& phase) {
  phase.arm = phase.chosen = 0;
  phase.result.fill(0);
  phase.findings.fill({});
  phase.state = State::settled;
}

void AbTrial::start_block(Phase& phase, unsigned block) {
  for (Awaited& slot : phase.awaited) {
    if (slot.step != 0 && slot.block == block) { slot = {}; }
  }
  if (phase.blocks[block].counted == kMeasured) { --phase.complete; }
  phase.blocks[block] = {};
  phase.block = block;
  phase.steps = 0;
}

// Forth and back, so that a drift of the machine weighs on all arms alike.
unsigned AbTrial::arm_of_block(unsigned block) const {
  const unsigned in_round = block % arms_;
  return (block / arms_) % 2 == 0 ? in_round : arms_ - 1 - in_round;
}

// The logarithm of the mean of the two steps in the middle: one hiccup in a block does not count.
double AbTrial::time_of(const Phase& phase, unsigned arm, unsigned round) const {
  static_assert(kMeasured == 4);
  const unsigned in_round = round % 2 == 0 ? arm : arms_ - 1 - arm;
  std::array<std::uint64_t, kMeasured> times = phase.blocks[round * arms_ + in_round].times;
  std::sort(times.begin(), times.end());
  return std::log(std::max(1.0, (static_cast<double>(times[1]) + static_cast<double>(times[2])) / 2.0));
}

AbTrial::Difference AbTrial::difference(const Phase& phase, unsigned arm, unsigned from) const {
  std::array<double, kRounds> of_round{};
  double sum = 0.0;
  for (unsigned round = 0; round < kRounds; ++round) {
    of_round[round] = time_of(phase, arm, round) - time_of(phase, from, round);
    sum += of_round[round];
  }
  const double mean = sum / kRounds;
  double squares = 0.0;
  for (const double one : of_round) { squares += (one - mean) * (one - mean); }
  const double spread = std::max(kLeastSpread, std::sqrt(squares / (kRounds - 1)));
  return {mean, spread / std::sqrt(static_cast<double>(kRounds))};
}

// The chances of error of the decisions 1, 2, 3, ... are kError 6 / pi^2 times 1, 1/4, 1/9, ..., which add up to kError.
bool AbTrial::proven(const Phase& phase, unsigned arm) const {
  const Difference longer = difference(phase, arm, phase.chosen);
  if (arm != 0 && longer.mean > std::log(1.0 - kLeastGain)) { return false; }
  const double count = decisions_;
  const double of_decision = kError * 6.0 / (std::numbers::pi * std::numbers::pi) / (count * count);
  return upper_tail(-longer.mean / longer.error, kRounds - 1) < of_decision / (arms_ - 1);
}

void AbTrial::note_findings(Phase& phase) const {
  const double width = critical_value(0.025, kRounds - 1);
  for (unsigned arm = 0; arm < arms_; ++arm) {
    double sum = 0.0;
    for (unsigned round = 0; round < kRounds; ++round) { sum += time_of(phase, arm, round); }
    phase.result[arm] = static_cast<std::uint64_t>(std::llround(std::exp(sum / kRounds)));
    if (arm == 0) { continue; }
    const Difference longer = difference(phase, arm, 0);
    phase.findings[arm] = {1.0 - std::exp(longer.mean), 1.0 - std::exp(longer.mean + width * longer.error),
                           1.0 - std::exp(longer.mean - width * longer.error)};
  }
}

// Of the arms that are proven faster than the choice so far the simplest is taken, unless a later one gains more by kLeastGain.
void AbTrial::choose(Phase& phase) {
  ++decisions_;
  note_findings(phase);
  const auto at_most = [&](unsigned arm) { return static_cast<double>(phase.result[arm]) * (1.0 - kLeastGain); };
  unsigned best = phase.chosen;
  for (unsigned arm = 0; arm < arms_; ++arm) {
    if (arm == phase.chosen || !proven(phase, arm)) { continue; }
    if (best == phase.chosen || static_cast<double>(phase.result[arm]) < at_most(best)) { best = arm; }
  }
  phase.chosen = best;
  phase.arm = best;
  phase.state = State::settled;
  phase.unmeasured = 0;
}

const char* text(AbTrial::State state) {
  switch (state) {
    case AbTrial::State::waiting:
      return "waiting";
    case AbTrial::State::trying:
      return "trying";
    case AbTrial::State::settled:
      return "settled";
  }
  return "";
}

}  // namespace elbowroom::interposer
