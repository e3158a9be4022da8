#include "elbowroom/tune/tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <utility>

#include "elbowroom/plan/controls.hpp"

namespace elbowroom {
namespace {

// Ranks say something of a candidate from this many trials on; before, only a large distance does.
constexpr std::size_t kFewTrials = 3;
constexpr double kHopeless = 1.10;
// How many are measured to the end. Their medians are the same for every purpose within kLeastGain, and within this share of what
// overlap saves.
constexpr std::size_t kFinalists = 4;
constexpr std::size_t kTrialsToCallEqual = 6;
constexpr double kSameGain = 0.02;

/// What a program does by itself, or with nothing but a stream's priority.
bool is_unshaped(Scheme scheme) {
  return scheme == Scheme::sequential || scheme == Scheme::concurrent || scheme == Scheme::priority;
}

bool same_run(const Candidate& a, const Candidate& b) { return a.scheme == b.scheme && a.plan == b.plan; }

/// Fisher-Yates with the same result everywhere.
void shuffle(std::vector<std::size_t>& order, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t left = order.size(); left > 1; --left) { std::swap(order[left - 1], order[random() % left]); }
}

}  // namespace

std::string_view to_string(TunerEnding ending) {
  switch (ending) {
    case TunerEnding::running:
      return "running";
    case TunerEnding::separated:
      return "separated";
    case TunerEnding::inseparable:
      return "inseparable";
    case TunerEnding::out_of_time:
      return "out_of_time";
  }
  return "";
}

Tuner::Tuner(TunerOptions options, const std::vector<Candidate>& seeds, Neighbours neighbours)
    : Tuner(options, std::move(neighbours)) {
  for (const Candidate& seed : seeds) {
    if (static_cast<int>(candidates_.size()) < options_.most_candidates) { candidates_.push_back({seed, {}, {}}); }
  }
  std::vector<std::size_t> all(candidates_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  begin_wave(std::move(all), options_.screening_rounds);
}

std::optional<std::size_t> Tuner::ask() {
  if (ending_ == TunerEnding::running && spent_ >= options_.time_limit && !owes_a_trial()) { ending_ = TunerEnding::out_of_time; }
  if (ending_ != TunerEnding::running || queue_.empty()) { return std::nullopt; }
  return queue_.back();
}

bool Tuner::owes_a_trial() {
  // A choice that was never set against the baselines could be worse than they are.
  const auto waits = [this](std::size_t at) {
    return candidates_[at].times.empty() && is_unshaped(candidates_[at].candidate.scheme);
  };
  const auto waiting = std::find_if(queue_.rbegin(), queue_.rend(), waits);
  if (waiting != queue_.rend()) { std::iter_swap(waiting, queue_.rbegin()); }
  return waiting != queue_.rend() || !best();
}

void Tuner::tell(Microseconds time, Seconds spent) {
  if (queue_.empty()) { return; }
  candidates_[queue_.back()].times.push_back(time);
  ++trials_;
  end_trial(spent);
}

void Tuner::refuse(std::string reason, Seconds spent) {
  if (queue_.empty()) { return; }
  MeasuredCandidate& refused = candidates_[queue_.back()];
  refused.dropped = reason.empty() ? "refused" : std::move(reason);
  refused.times.clear();  // whatever it did before, it is no choice
  end_trial(spent);
}

void Tuner::end_trial(Seconds spent) {
  spent_ += spent;
  queue_.pop_back();
  if (!queue_.empty()) { return; }
  drop_losers();
  while (queue_.empty() && ending_ == TunerEnding::running) {
    const auto alive = std::count_if(wave_.begin(), wave_.end(), [&](std::size_t member) { return !candidates_[member].dropped; });
    if (rounds_left_ > 0 && alive > 1) {
      begin_round();
    } else {
      next_wave();
    }
  }
}

void Tuner::begin_wave(std::vector<std::size_t> wave, int rounds) {
  wave_ = std::move(wave);
  rounds_left_ = rounds;
  begin_round();
}

void Tuner::begin_round() {
  --rounds_left_;
  queue_.clear();
  for (const std::size_t member : wave_) {
    const MeasuredCandidate& candidate = candidates_[member];
    if (!candidate.dropped && static_cast<int>(candidate.times.size()) < options_.most_trials) { queue_.push_back(member); }
  }
  shuffle(queue_, options_.seed + 0x9E3779B97F4A7C15ULL * rounds_++);
}

void Tuner::drop_losers() {
  const std::optional<std::size_t> leader = best();
  if (!leader) { return; }
  const RankInterval least = candidates_[*leader].interval();
  for (std::size_t at = 0; at < candidates_.size(); ++at) {
    MeasuredCandidate& candidate = candidates_[at];
    if (at == *leader || candidate.dropped || candidate.times.empty()) { continue; }
    const bool few = std::min(candidate.times.size(), candidates_[*leader].times.size()) < kFewTrials;
    if (candidate.interval().low <= least.high * (few ? kHopeless : 1.0)) { continue; }
    candidate.dropped = fmt::format("slower than {}", in_words(candidates_[*leader].candidate.plan));
  }
}

void Tuner::next_wave() {
  const std::optional<std::size_t> leader = best();
  if (!leader) {
    ending_ = TunerEnding::separated;  // everything was refused
    return;
  }
  std::vector<std::size_t> wave = admit_newcomers(*leader);
  if (wave.empty()) {
    narrow(*leader);
    return;
  }
  // The best so far runs along, so that newcomers are compared with a time of the same minute.
  wave.push_back(*leader);
  begin_wave(std::move(wave), options_.screening_rounds);
}

std::vector<std::size_t> Tuner::admit_newcomers(std::size_t leader) {
  std::vector<std::size_t> newcomers;
  // What was refused took no time.
  const auto refused = std::count_if(candidates_.begin(), candidates_.end(),
                                     [](const MeasuredCandidate& measured) { return measured.times.empty() && measured.dropped; });
  const auto left = options_.most_candidates - static_cast<std::ptrdiff_t>(candidates_.size()) + refused;
  const OverlapPlan plan = candidates_[leader].candidate.plan;
  if (left <= 0) { return newcomers; }
  for (const Candidate& neighbour : neighbours_(plan)) {
    if (newcomers.size() >= std::min(options_.wave, static_cast<std::size_t>(left))) { break; }
    const bool known = std::any_of(candidates_.begin(), candidates_.end(),
                                   [&](const MeasuredCandidate& other) { return same_run(other.candidate, neighbour); });
    if (known) { continue; }
    newcomers.push_back(candidates_.size());
    candidates_.push_back({neighbour, {}, {}});
  }
  return newcomers;
}

void Tuner::narrow(std::size_t leader) {
  // A few lucky trials do not win: one that was dropped, and leads now that the others' medians have risen, is measured on.
  candidates_[leader].dropped.reset();
  std::vector<std::size_t> finalists;
  for (std::size_t at = 0; at < candidates_.size(); ++at) {
    if (!candidates_[at].dropped && !candidates_[at].times.empty()) { finalists.push_back(at); }
  }
  const auto median = [&](std::size_t at) { return candidates_[at].interval().median; };
  std::stable_sort(finalists.begin(), finalists.end(), [&](std::size_t a, std::size_t b) { return median(a) < median(b); });
  for (std::size_t at = kFinalists; at < finalists.size(); ++at) {
    if (finalists[at] != leader) { candidates_[finalists[at]].dropped = "not among the best few"; }
  }
  if (finalists.size() > kFinalists) { finalists.resize(kFinalists); }
  if (finalists.size() < 2) {
    ending_ = TunerEnding::separated;
    return;
  }
  const Microseconds same_until = same_as(median(leader));
  const auto settled = [&](std::size_t at) {
    const std::size_t trials = candidates_[at].times.size();
    if (static_cast<int>(trials) >= options_.most_trials) { return true; }
    return trials >= kTrialsToCallEqual && median(at) <= same_until;
  };
  if (std::all_of(finalists.begin(), finalists.end(), settled)) {
    ending_ = TunerEnding::inseparable;
    return;
  }
  begin_wave(std::move(finalists), 1);
}

// A collective that is a hundredth of a step can be hidden or not within 0.3 % of it.
Microseconds Tuner::same_as(Microseconds least) const {
  Microseconds slack = least * kLeastGain;
  for (const MeasuredCandidate& measured : candidates_) {
    if (measured.candidate.scheme != Scheme::sequential || measured.times.empty()) { continue; }
    const Microseconds gain = measured.interval().median - least;
    slack = std::clamp(gain * kSameGain, Microseconds{0}, slack);
  }
  return least + slack;
}

std::optional<std::size_t> Tuner::choice() const {
  const std::optional<std::size_t> leader = best();
  if (!leader) { return leader; }
  const Microseconds same_until = same_as(candidates_[*leader].interval().median);
  const auto set_controls = [&](std::size_t at) {
    const OverlapPlan& plan = candidates_[at].candidate.plan;
    return std::count_if(controls().begin(), controls().end(),
                         [&](const Control& control) { return control.get(plan).has_value(); });
  };
  const std::size_t enough = std::min(kTrialsToCallEqual, candidates_[*leader].times.size());
  std::size_t chosen = *leader;
  for (std::size_t at = 0; at < candidates_.size(); ++at) {
    const MeasuredCandidate& measured = candidates_[at];
    const bool level = measured.times.size() >= enough && measured.interval().median <= same_until;
    if (level && set_controls(at) < set_controls(chosen)) { chosen = at; }
  }
  return chosen;
}

std::optional<std::size_t> Tuner::steadiest() const {
  const std::optional<std::size_t> chosen = choice();
  if (!chosen) { return std::nullopt; }
  std::optional<std::size_t> found;
  Microseconds least = candidates_[*chosen].interval().high * (1 - kLeastGain);
  for (std::size_t at = 0; at < candidates_.size(); ++at) {
    const MeasuredCandidate& measured = candidates_[at];
    const bool known = static_cast<int>(measured.times.size()) >= options_.screening_rounds;
    if (!known || measured.candidate.scheme != Scheme::tuned || measured.interval().high >= least) { continue; }
    found = at;
    least = measured.interval().high;
  }
  return found;
}

std::optional<std::size_t> Tuner::best() const {
  std::size_t enough = 0;
  for (const MeasuredCandidate& measured : candidates_) { enough = std::max(enough, measured.times.size()); }
  // One lucky trial of a newcomer does not beat the median of several.
  enough = std::min(enough, static_cast<std::size_t>(options_.screening_rounds));
  std::optional<std::size_t> found;
  Microseconds least{0};
  for (std::size_t at = 0; at < candidates_.size(); ++at) {
    const MeasuredCandidate& measured = candidates_[at];
    if (measured.times.empty() || measured.times.size() < enough) { continue; }
    const Microseconds median = measured.interval().median;
    if (found && median >= least) { continue; }
    found = at;
    least = median;
  }
  return found;
}

}  // namespace elbowroom
