#include "report/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace elbowroom {

ProgressEstimate::ProgressEstimate(const std::vector<double>& weights, Microseconds now) : begun_(now) {
  for (const double weight : weights) { kinds_.push_back({weight, 0, 0, Microseconds(0)}); }
}

void ProgressEstimate::expect(std::size_t kind, int steps) { kinds_[kind].to_begin = steps; }

void ProgressEstimate::begin(std::size_t kind, Microseconds now) {
  if (running_) {
    ++kinds_[*running_].over;
    kinds_[*running_].took += now - begun_;
  }
  running_ = kind;
  begun_ = now;
  kinds_[kind].to_begin = std::max(0, kinds_[kind].to_begin - 1);
}

std::optional<Microseconds> ProgressEstimate::step_of(const Kind& kind) const {
  if (kind.over > 0) { return kind.took / kind.over; }
  if (kind.weight <= 0) { return Microseconds(0); }
  Microseconds took{0};
  double weighed = 0;
  for (const Kind& other : kinds_) {
    if (other.weight <= 0) { continue; }
    took += other.took;
    weighed += other.weight * other.over;
  }
  return weighed > 0 ? std::optional(took * (kind.weight / weighed)) : std::nullopt;
}

std::optional<Microseconds> ProgressEstimate::left(Microseconds now) const {
  Microseconds sum{0};
  for (std::size_t at = 0; at < kinds_.size(); ++at) {
    const bool runs = running_ == at;
    if (kinds_[at].to_begin == 0 && !runs) { continue; }
    const std::optional<Microseconds> step = step_of(kinds_[at]);
    if (!step) { return std::nullopt; }
    sum += *step * static_cast<double>(kinds_[at].to_begin);
    if (runs) { sum += std::max(Microseconds(0), *step - (now - begun_)); }
  }
  return sum;
}

double share_of(Microseconds spent, Microseconds left) {
  const Microseconds all = spent + left;
  return all > Microseconds(0) ? spent / all : 0;
}

Microseconds left_in_all(Microseconds spent_before, int before, Microseconds spent, Microseconds left, int after) {
  const Microseconds mean = (spent_before + spent + left) / (before + 1);
  return left + mean * static_cast<double>(after);
}

std::string duration_words(Microseconds time) {
  constexpr long minute = 60;
  constexpr long hour = 3600;
  const long seconds = std::lround(std::clamp(time.count() / 1e6, 0.0, 1e9));
  if (seconds < minute) { return fmt::format("{} s", seconds); }
  if (seconds < hour) { return fmt::format("{} min {} s", seconds / minute, seconds % minute); }
  return fmt::format("{} h {} min", seconds / hour, seconds % hour / minute);
}

std::string progress_text(const CaseProgress& progress, std::string_view what) {
  std::string text = fmt::format("[{}/{}] {}", progress.number, progress.cases, progress.name);
  if (progress.left) { text += fmt::format(" {:.0f} %", 100 * share_of(progress.spent, *progress.left)); }
  text += fmt::format(" {}", what);
  if (progress.left) { text += fmt::format(", {} left", duration_words(*progress.left)); }
  if (progress.left_in_all) { text += fmt::format(", {} for all", duration_words(*progress.left_in_all)); }
  return text;
}

}  // namespace elbowroom
