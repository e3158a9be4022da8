#pragma once

#include <cstdint>
#include <span>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/base/time.hpp"

namespace elbowroom {

/// Resamples of a bootstrap: enough that the ends of a 95 % interval rest on 50 resamples each.
inline constexpr int kBootstrapResamples = 2000;

/// The median of repeated trials and how far it can be trusted. low <= median <= high.
struct Summary {
  Microseconds median{0};
  Microseconds low{0};
  Microseconds high{0};
  double confidence = 0.95;
  int trials = 0;

  bool operator==(const Summary&) const = default;
};

/// The same for a ratio of two medians; a plain number.
struct RatioSummary {
  double median = 0.0;
  double low = 0.0;
  double high = 0.0;
  double confidence = 0.95;
  int trials = 0;  ///< pairs

  bool operator==(const RatioSummary&) const = default;
};

/// Median with a percentile-bootstrap interval, widened to hold rank_interval(): of few samples a bootstrap alone holds the true
/// median less often than it says. The same samples (in any order), seed and confidence give the same bits on every platform. The
/// result's confidence is the one asked for or, where n samples cannot give it, 1 - 2^(1-n): 95 % takes six. One sample is its own
/// interval of confidence 0: nothing is known of its spread. `samples` finite and not negative, at least one; `confidence` in (0,
/// 1); `resamples` at least 1; otherwise `invalid_input`. Costs O(resamples * samples).
ELBOWROOM_API Result<Summary> summarize(std::span<const Microseconds> samples, std::uint64_t seed, double confidence = 0.95,
                                        int resamples = kBootstrapResamples);

/// The interval stretched to hold `share` of the median on either side: how far a model may be off, which its trials do not show.
/// The result's confidence is 0, since no trials stand behind such an interval.
ELBOWROOM_API Summary widened(Summary summary, double share);

/// The same of a ratio, of which either side may be off by `share`, below 1.
ELBOWROOM_API RatioSummary widened(RatioSummary ratio, double share);

/// median(numerator) / median(denominator) with a percentile-bootstrap interval over pairs. Sample i of both sets comes from the
/// same round of interleaved trials, so what drifts together stays together. Drift still widens it somewhat, being one of medians.
/// As summarize; besides, both sets have the same size and the denominator's samples are above zero.
ELBOWROOM_API Result<RatioSummary> summarize_ratio(std::span<const Microseconds> numerator,
                                                   std::span<const Microseconds> denominator, std::uint64_t seed,
                                                   double confidence = 0.95, int resamples = kBootstrapResamples);

}  // namespace elbowroom
