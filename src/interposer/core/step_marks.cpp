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
  if (signatures_[at_ % repetition_.period] != signature) {
    keep();
    locked_ = false;
    evidence_ = std::min(evidence_ * 2, kMostRemembered / 2);
    limit_ = std::max(limit_, std::min(evidence_ * 2, kMostRemembered));
    search_anew();  // without this signature: a single one out of line must not stand before the next search
    return Mark::lost;
  }
  const bool step_ended = at_ == repetition_.step_length;
  at_ = step_ended ? 1 : at_ + 1;
  steps_ += step_ended ? 1 : 0;
  return step_ended ? Mark::step : Mark::none;
}

void StepMarks::search_anew() {
  count_ = 0;
  for (Lasting& lasting : lasting_) { lasting.recent = 0; }
}

// A short repetition inside of a longer one is found and lost again within a step: it must not stand in the longer one's way.
void StepMarks::keep() {
  const auto same = [&](const Lasting& lasting) { return lasting.repetition.pattern == repetition_.pattern; };
  const bool lasted = steps_ > kLasting && steps_ * repetition_.step_length >= kLastingCollectives;
  if (!lasted || std::any_of(lasting_.begin(), lasting_.end(), same)) { return; }
  lasting_[next_place_++ % kMostLasting] = {repetition_, 0};
}

void StepMarks::remember(std::uint64_t signature) {
  if (count_ == limit_) {
    limit_ = std::min(limit_ * 2, kMostRemembered);
    search_anew();
  }
  signatures_[count_] = signature;
  std::uint32_t border = count_ == 0 ? 0 : border_[count_ - 1];
  while (border > 0 && signatures_[border] != signature) { border = border_[border - 1]; }
  if (count_ > 0 && signatures_[border] == signature) { ++border; }
  border_[count_] = static_cast<std::uint16_t>(border);
  ++count_;
  for (Lasting& lasting : lasting_) { add_to_recent(lasting, signature); }

  if (const Lasting* again = known_again()) {
    const std::uint32_t period = again->repetition.period;
    std::copy_n(signatures_.begin() + (count_ - period), period, signatures_.begin());
    lock(again->repetition);
    return;
  }
  const std::uint32_t period = count_ - border;
  if (count_ < evidence_ || count_ < 3 * period || count_ % period != 0) { return; }
  std::uint64_t pattern = period;
  for (std::uint32_t i = 0; i < period; ++i) { pattern += mix(signatures_[i]); }
  lock({pattern, period, period * ((kLeastPerStep + period - 1) / period)});
}

void StepMarks::add_to_recent(Lasting& lasting, std::uint64_t signature) const {
  const std::uint32_t length = lasting.repetition.step_length;
  lasting.recent += mix(signature);
  if (count_ > length) { lasting.recent -= mix(signatures_[count_ - 1 - length]); }
}

const StepMarks::Lasting* StepMarks::known_again() const {
  const auto passed = [&](const Lasting& lasting) {
    const auto& [pattern, period, length] = lasting.repetition;
    return period != 0 && count_ >= length && lasting.recent == (pattern - period) * (length / period);
  };
  const auto found = std::find_if(lasting_.begin(), lasting_.end(), passed);
  return found == lasting_.end() ? nullptr : &*found;
}

void StepMarks::lock(const Repetition& repetition) {
  locked_ = true;
  repetition_ = repetition;
  at_ = repetition.step_length;
  steps_ = 0;
}

}  // namespace elbowroom::interposer
