#include "preload/core/ab_trial.hpp"

#include <algorithm>

namespace headroom::preload {

void AbTrial::begin(unsigned arms) {
  *this = AbTrial{};
  arms_ = std::clamp(arms, 1U, kMaxArms);
}

void AbTrial::on_pattern(std::uint64_t pattern) {
  if (pattern == pattern_ && state_ != State::waiting) {
    steps_ = 0;
    block_time_ = 0;
    return;
  }
  pattern_ = pattern;
  start_trial();
}

void AbTrial::on_lost() {
  steps_ = 0;
  block_time_ = 0;
}

void AbTrial::on_step(std::uint64_t nanoseconds) {
  if (state_ == State::waiting) { return; }
  ++steps_;
  if (state_ == State::settled) {
    if (steps_ >= kRecheck) { start_trial(); }
    return;
  }
  if (steps_ > kSettling) { block_time_ += nanoseconds; }
  if (steps_ == kSettling + kMeasured) { end_block(); }
}

void AbTrial::start_trial() {
  state_ = State::trying;
  block_ = 0;
  steps_ = 0;
  block_time_ = 0;
  arm_ = arm_of_block(0);
}

void AbTrial::end_block() {
  rounds_[arm_][block_ / arms_] = block_time_ / kMeasured;
  ++block_;
  steps_ = 0;
  block_time_ = 0;
  if (block_ == arms_ * kRounds) {
    choose();
  } else {
    arm_ = arm_of_block(block_);
  }
}

// Forth and back, so that a drift of the machine weighs on all arms alike.
unsigned AbTrial::arm_of_block(unsigned block) const {
  const unsigned in_round = block % arms_;
  return (block / arms_) % 2 == 0 ? in_round : arms_ - 1 - in_round;
}

void AbTrial::choose() {
  unsigned best = 0;
  for (unsigned arm = 0; arm < arms_; ++arm) {
    std::array<std::uint64_t, kRounds> times = rounds_[arm];
    std::sort(times.begin(), times.end());
    result_[arm] = times[kRounds / 2];
    if (result_[arm] + result_[best] / kLeastGain < result_[best]) { best = arm; }
  }
  arm_ = chosen_ = best;
  state_ = State::settled;
  steps_ = 0;
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

}  // namespace headroom::preload
