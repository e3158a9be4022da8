#include "interposer/core/ab_trial.hpp"

#include <algorithm>

namespace elbowroom::interposer {

void AbTrial::begin(unsigned arms) {
  *this = AbTrial{};
  arms_ = std::clamp(arms, 1U, kMaxArms);
}

void AbTrial::on_pattern(std::uint64_t pattern) {
  if (pattern == pattern_ && state_ != State::waiting) { return; }
  pattern_ = pattern;
  unmeasured_ = 0;
  start_trial();
}

// The last step that was begun has no end, so its block is begun anew: the one before, where a block had just been left.
void AbTrial::on_lost() {
  if (state_ != State::trying || left_) {
    after_ = 0;
  } else if (steps_ > 0 || block_ > 0) {
    start_block(steps_ > 0 ? block_ : block_ - 1);
  }
}

void AbTrial::on_step_begun(std::uint64_t step) {
  if (state_ == State::waiting) { return; }
  if (state_ == State::settled) {
    if (given_up() || ++after_ < kRecheck) { return; }
    start_trial();
  }
  Awaited& slot = awaited_[step % kMostAhead];
  if (slot.step != 0) {  // its time never came, nor will its block's
    ++unmeasured_;
    if (given_up()) {
      leave_alone();
      return;
    }
    start_trial();
  }
  if (block_ == blocks()) {
    arm_ = chosen_;  // until the last times are known
    left_ = true;
    ++after_;
    return;
  }
  arm_ = arm_of_block(block_);
  if (++steps_ > kSettling) { slot = {step, block_}; }
  if (steps_ < kSettling + kMeasured) { return; }
  ++block_;
  steps_ = 0;
}

void AbTrial::on_step_time(std::uint64_t step, std::uint64_t nanoseconds) {
  Awaited& slot = awaited_[step % kMostAhead];
  if (step == 0 || slot.step != step) { return; }
  Block& block = blocks_[slot.block];
  slot = {};
  block.time += nanoseconds;
  if (++block.counted < kMeasured) { return; }
  if (++complete_ == blocks()) { choose(); }
}

void AbTrial::start_trial() {
  state_ = State::trying;
  complete_ = 0;
  blocks_.fill({});
  awaited_.fill({});
  block_ = 0;
  steps_ = 0;
  after_ = 0;
  left_ = false;
}

// Steps that begin with the launch of a graph, say, have no time.
void AbTrial::leave_alone() {
  arm_ = chosen_ = 0;
  result_.fill(0);
  state_ = State::settled;
}

void AbTrial::start_block(unsigned block) {
  for (Awaited& slot : awaited_) {
    if (slot.step != 0 && slot.block == block) { slot = {}; }
  }
  if (blocks_[block].counted == kMeasured) { --complete_; }
  blocks_[block] = {};
  block_ = block;
  steps_ = 0;
}

// Forth and back, so that a drift of the machine weighs on all arms alike.
unsigned AbTrial::arm_of_block(unsigned block) const {
  const unsigned in_round = block % arms_;
  return (block / arms_) % 2 == 0 ? in_round : arms_ - 1 - in_round;
}

void AbTrial::choose() {
  unsigned best = 0;
  for (unsigned arm = 0; arm < arms_; ++arm) {
    std::array<std::uint64_t, kRounds> times{};
    for (unsigned block = 0; block < blocks(); ++block) {
      if (arm_of_block(block) == arm) { times[block / arms_] = blocks_[block].time / kMeasured; }
    }
    std::sort(times.begin(), times.end());
    result_[arm] = times[kRounds / 2];
    if (result_[arm] + result_[best] / kLeastGain < result_[best]) { best = arm; }
  }
  arm_ = chosen_ = best;
  state_ = State::settled;
  unmeasured_ = 0;
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
