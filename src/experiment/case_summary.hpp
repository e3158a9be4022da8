#pragma once

#include <cstdint>
#include <span>

#include "elbowroom/backend/backend.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/trace/summary.hpp"

namespace elbowroom::detail {

/// Of trials on the backend. The interval of simulated ones is the model's: they agree with each other whatever it is worth.
inline Result<Summary> summary_on(const Backend& backend, std::span<const Microseconds> times, std::uint64_t seed) {
  const std::optional<ModelWidth>& model = backend.devices().front().model;
  Result<Summary> summary = summarize(times, seed);
  return summary && model ? widened(*summary, model->width) : summary;
}

/// Of pairs of trials on the backend. Of simulated ones either side may be off by the model's width.
inline Result<RatioSummary> ratio_on(const Backend& backend, std::span<const Microseconds> numerator,
                                     std::span<const Microseconds> denominator, std::uint64_t seed) {
  const std::optional<ModelWidth>& model = backend.devices().front().model;
  Result<RatioSummary> ratio = summarize_ratio(numerator, denominator, seed);
  return ratio && model ? widened(*ratio, model->width) : ratio;
}

}  // namespace elbowroom::detail
