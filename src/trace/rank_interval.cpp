#include "elbowroom/trace/rank_interval.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace elbowroom {
namespace {

/// How many times may be left out on either side: the number of times below the median is binomial with p = 1/2.
std::size_t left_out(std::size_t count, double confidence) {
  const auto n = static_cast<double>(count);
  double below = 0;  // probability that at most `at` times lie below the median
  std::size_t at = 0;
  for (; at < count / 2; ++at) {
    const auto k = static_cast<double>(at);
    below += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) - n * std::log(2.0));
    if (1 - 2 * below < confidence) { break; }
  }
  return at == 0 ? 0 : at - 1;
}

}  // namespace

RankInterval rank_interval(std::span<const Microseconds> times, double confidence) {
  std::vector<Microseconds> sorted(times.begin(), times.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  const Microseconds median = sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  const std::size_t outside = left_out(sorted.size(), confidence);
  return {median, sorted[outside], sorted[sorted.size() - 1 - outside]};
}

RankInterval widened(RankInterval interval, double share) {
  interval.low = std::min(interval.low, interval.median * (1 - share));
  interval.high = std::max(interval.high, interval.median * (1 + share));
  return interval;
}

}  // namespace elbowroom
