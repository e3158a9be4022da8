#include "headroom/tune/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "headroom/tune/tuner.hpp"

namespace headroom {
namespace {

constexpr double kLeastRounds = 12;
constexpr double kMostRounds = 36;
constexpr double kShareOfBudget = 0.5;

}  // namespace

int confirming_rounds(Microseconds round, std::chrono::duration<double> budget) {
  const double fit = kShareOfBudget * budget.count() * 1e6 / std::max(round.count(), 1.0);
  return static_cast<int>(std::clamp(fit, kLeastRounds, kMostRounds));
}

Result<Verdict> confirm(const Candidate& winner, std::span<const Microseconds> winner_times, const Candidate& plain,
                        std::span<const Microseconds> plain_times, std::uint64_t seed) {
  const Result<RatioSummary> ratio = summarize_ratio(winner_times, plain_times, seed);
  if (!ratio) return ratio.error();
  const auto saved = [](double share) { return 100 * (1 - share); };
  const bool beyond_noise = ratio->high < 1;
  if (beyond_noise && ratio->median <= 1 - kSameTime) {
    return Verdict{winner, *ratio,
                   fmt::format("{:.1f} % less time than {} ({:.1f} to {:.1f}), {}", saved(ratio->median), to_string(plain.scheme),
                               saved(ratio->high), saved(ratio->low), winner.reason)};
  }
  return Verdict{plain, *ratio,
                 fmt::format("{} kept: {} takes {:.3f} of its time ({:.3f} to {:.3f}), {}", to_string(plain.scheme), in_words(winner.plan),
                             ratio->median, ratio->low, ratio->high,
                             beyond_noise ? fmt::format("less than {:.1f} % saved", 100 * kSameTime) : "not less beyond noise")};
}

}  // namespace headroom
