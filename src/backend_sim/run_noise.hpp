#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "elbowroom/base/result.hpp"

namespace elbowroom::sim {

/// Scatter of run times about what the model says: one factor for a whole run, log-normal with median 1. Equal seeds give equal
/// sequences on every platform.
class RunNoise {
 public:
  /// `percent`: standard deviation of the factor's logarithm, 0 (every factor is 1) to 20.
  RunNoise(double percent, std::uint64_t seed) : deviation_(percent / 100), state_(seed) {}

  [[nodiscard]] bool off() const { return deviation_ == 0; }
  [[nodiscard]] double percent() const { return deviation_ * 100; }
  double next();

 private:
  double uniform();

  double deviation_;
  std::uint64_t state_;
};

/// `text` as ELBOWROOM_SIM_NOISE gives it, absent: no noise. `invalid_input` unless it is a number from 0 to 20.
Result<double> parse_noise_percent(const std::optional<std::string>& text);

}  // namespace elbowroom::sim
