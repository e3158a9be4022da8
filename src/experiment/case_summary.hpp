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

}  // namespace elbowroom::detail
