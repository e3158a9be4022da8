#include "interposer/core/step_marks.hpp"

#include <algorithm>

#include "interposer/core/table.hpp"

namespace elbowroom::interposer {

StepMarks::Mark StepMarks::on_collective(std::uint64_t signature) {
  if (!locked_) {
    remember(signature);
    return Mark::none;
  }
  // What is remembered begins with one whole repetition.
  if (signatures_[at_ % period_] != signature) {
    locked_ = false;
    evidence_ = std::min(evidence_ * 2, kMostRemembered / 2);
    limit_ = std::max(limit_, std::min(evidence_ * 2, kMostRemembered));
    count_ = 0;  // without this signature: a single one out of line must not stand before the next search
    return Mark::lost;
  }
  const bool step_ended = at_ == step_length_;
  at_ = step_ended ? 1 : at_ + 1;
  return step_ended ? Mark::step : Mark::none;
}

void StepMarks::remember(std::uint64_t signature) {
  if (count_ == limit_) {
    limit_ = std::min(limit_ * 2, kMostRemembered);
    count_ = 0;
  }
  signatures_[count_] = signature;
  std::uint32_t border = count_ == 0 ? 0 : border_[count_ - 1];
  while (border > 0 && signatures_[border] != signature) { border = border_[border - 1]; }
  if (count_ > 0 && signatures_[border] == signature) { ++border; }
  border_[count_] = static_cast<std::uint16_t>(border);
  ++count_;

  const std::uint32_t period = count_ - border;
  if (count_ < evidence_ || count_ < 3 * period || count_ % period != 0) { return; }
  locked_ = true;
  period_ = period;
  step_length_ = period * ((kLeastPerStep + period - 1) / period);
  at_ = step_length_;
  pattern_ = period;
  for (std::uint32_t i = 0; i < period; ++i) { pattern_ += mix(signatures_[i]); }
}

}  // namespace elbowroom::interposer
