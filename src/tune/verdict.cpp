#include "elbowroom/tune/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "elbowroom/trace/rank_interval.hpp"
#include "elbowroom/tune/tuner.hpp"

namespace elbowroom {
namespace {

constexpr double kLeastRounds = 12;
constexpr double kMostRounds = 144;
constexpr double kShareOfTimeLimit = 0.5;
constexpr double kConfidence = 0.95;

bool beats(const RatioSummary& ratio) { return ratio.high < 1 && ratio.median <= 1 - kLeastGain; }

/// " (20.1 to 22.0)"; nothing where the times of a simulator agree: that is no interval.
std::string between(double low, double high, int decimals) {
  return low == high ? "" : fmt::format(" ({:.{}f} to {:.{}f})", low, decimals, high, decimals);
}

Verdict taking(const Finalist& finalist, const RatioSummary& ratio, Scheme plain) {
  const auto saved = [](double share) { return 100 * (1 - share); };
  return {finalist.candidate, rank_interval(finalist.times).median, ratio,
          fmt::format("{:.1f} % less time than {}{}, {}", saved(ratio.median), to_string(plain),
                      between(saved(ratio.high), saved(ratio.low), 1), in_words(finalist.candidate.reason))};
}

Verdict keeping(const Finalist& plain, const RatioSummary& ratio, const OverlapPlan& refused) {
  const std::string why = ratio.high < 1 ? fmt::format("less than {:.1f} % saved", 100 * kLeastGain) : "not less beyond noise";
  return {plain.candidate, rank_interval(plain.times).median, ratio,
          fmt::format("{} kept: {} takes {:.3f} of its time{}, {}", to_string(plain.candidate.scheme), in_words(refused),
                      ratio.median, between(ratio.low, ratio.high, 3), why)};
}

}  // namespace

int confirming_rounds(Microseconds round, std::chrono::duration<double> time_limit) {
  const double fit = kShareOfTimeLimit * time_limit.count() * 1e6 / std::max(round.count(), 1.0);
  return static_cast<int>(std::clamp(fit, kLeastRounds, kMostRounds));
}

Result<Verdict> confirm(std::span<const Finalist> finalists, const Finalist& plain, std::uint64_t seed) {
  if (finalists.empty()) { return invalid_input("finalists: none, expected at least one"); }
  // Each could look faster by chance.
  const double confidence = 1 - (1 - kConfidence) / static_cast<double>(finalists.size());
  std::optional<Verdict> kept;
  std::optional<Verdict> taken;
  for (const Finalist& finalist : finalists) {
    const Result<RatioSummary> ratio = summarize_ratio(finalist.times, plain.times, seed, confidence);
    if (!ratio) { return ratio.error(); }
    if (beats(*ratio) && (!taken || ratio->median < taken->ratio.median)) {
      taken = taking(finalist, *ratio, plain.candidate.scheme);
    }
    if (!kept) { kept = keeping(plain, *ratio, finalist.candidate.plan); }
  }
  return taken ? *taken : *kept;
}

}  // namespace elbowroom
