#include "backend_sim/run_noise.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <numbers>

#include "backend_sim/splitmix.hpp"
#include "elbowroom/base/environment.hpp"

namespace elbowroom::sim {
namespace {

constexpr double kMostPercent = 20;

}  // namespace

double RunNoise::uniform() {
  state_ = mixed(state_);
  return mixed_fraction(state_);
}

double RunNoise::next() {
  if (off()) { return 1; }
  // Box and Muller; 1 - u is never 0.
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  const double angle = 2 * std::numbers::pi * uniform();
  return std::exp(deviation_ * radius * std::cos(angle));
}

Result<double> parse_noise_percent(const std::optional<std::string>& text) {
  if (!text) { return 0.0; }
  double percent = 0;
  const char* const end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, percent);
  // Written so that NaN is refused.
  if (error == std::errc() && rest == end && percent >= 0 && percent <= kMostPercent) { return percent; }
  return invalid_input(fmt::format("{}: '{}', expected a number from 0 to {} percent", kSimNoise.name, *text, kMostPercent));
}

}  // namespace elbowroom::sim
