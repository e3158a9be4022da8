#include "interposer/core/student_t.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace elbowroom::interposer {
namespace {

// The probability of a value between -t and t: a finite series in the angle whose tangent is t / sqrt(degrees).
double within(double t, unsigned degrees) {
  const double angle = std::atan(t / std::sqrt(static_cast<double>(degrees)));
  const double cosine = std::cos(angle);
  const bool odd = degrees % 2 == 1;
  double term = odd ? cosine : 1.0;
  double sum = 0.0;
  for (unsigned i = odd ? 1 : 0; i + 2 <= degrees; i += 2) {
    sum += term;
    term *= cosine * cosine * (i + 1.0) / (i + 2.0);
  }
  return odd ? 2.0 / std::numbers::pi * (angle + std::sin(angle) * sum) : std::sin(angle) * sum;
}

}  // namespace

double upper_tail(double t, unsigned degrees) {
  const double outside = std::max((1.0 - within(std::abs(t), degrees)) / 2.0, 1e-15);
  return t >= 0.0 ? outside : 1.0 - outside;
}

double critical_value(double tail, unsigned degrees) {
  double low = 0.0;
  double high = 1.0;
  while (upper_tail(high, degrees) > tail && high < 1e12) { high *= 2.0; }
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2.0;
    (upper_tail(middle, degrees) > tail ? low : high) = middle;
  }
  return high;
}

}  // namespace elbowroom::interposer
