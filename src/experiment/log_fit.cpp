#include "experiment/log_fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>

namespace elbowroom::detail {
namespace {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

constexpr int kMostSteps = 20;
constexpr double kProbe = 0.02;         // of a logarithm, for the slopes
constexpr double kLevel = 1e-4;         // a step that lowers the cost by a smaller share was the last
constexpr double kClose = 1e-3;         // residuals that are as small as this on average are closer than any measurement
constexpr double kFirstDamping = 1e-3;  // of the diagonal
constexpr double kMostDamping = 1e6;

/// The symmetric positive definite system by Cholesky's method; absent where it is not definite.
std::optional<Vector> solved(Matrix matrix, Vector right) {
  const std::size_t size = right.size();
  for (std::size_t row = 0; row < size; ++row) {
    for (std::size_t column = 0; column <= row; ++column) {
      double rest = matrix[row][column];
      for (std::size_t k = 0; k < column; ++k) { rest -= matrix[row][k] * matrix[column][k]; }
      if (row == column && !(rest > 0)) { return std::nullopt; }
      matrix[row][column] = row == column ? std::sqrt(rest) : rest / matrix[column][column];
    }
  }
  for (std::size_t row = 0; row < size; ++row) {
    for (std::size_t k = 0; k < row; ++k) { right[row] -= matrix[row][k] * right[k]; }
    right[row] /= matrix[row][row];
  }
  for (std::size_t row = size; row-- > 0;) {
    for (std::size_t k = row + 1; k < size; ++k) { right[row] -= matrix[k][row] * right[k]; }
    right[row] /= matrix[row][row];
  }
  return right;
}

class Fit {
 public:
  Fit(const LogResiduals& residuals, std::size_t constants, double reluctance, double most)
      : residuals_(residuals), reluctance_(reluctance), most_(most), at_(constants, 0.0) {}

  Result<Vector> run() {
    Result<Vector> start = residuals_(at_);
    if (!start) { return start.error(); }
    values_ = std::move(*start);
    for (int step = 0; step < kMostSteps; ++step) {
      if (!improve(slopes())) { break; }
    }
    return at_;
  }

 private:
  [[nodiscard]] double cost(const Vector& values, const Vector& at) const {
    const double moved = std::inner_product(at.begin(), at.end(), at.begin(), 0.0);
    return std::inner_product(values.begin(), values.end(), values.begin(), reluctance_ * reluctance_ * moved);
  }

  /// Of each residual, for each constant.
  Matrix slopes() {
    Matrix of_constants;
    for (std::size_t constant = 0; constant < at_.size(); ++constant) {
      Vector probed = at_;
      probed[constant] += kProbe;
      const Result<Vector> there = residuals_(probed);
      Vector slope(values_.size(), 0.0);
      for (std::size_t row = 0; there && row < slope.size(); ++row) { slope[row] = ((*there)[row] - values_[row]) / kProbe; }
      of_constants.push_back(std::move(slope));
    }
    return of_constants;
  }

  [[nodiscard]] std::optional<Vector> step_of(const Matrix& slopes, double damping) const {
    Matrix normal(at_.size(), Vector(at_.size()));
    Vector down(at_.size());
    for (std::size_t one = 0; one < at_.size(); ++one) {
      const Vector& slope = slopes[one];
      down[one] = -std::inner_product(slope.begin(), slope.end(), values_.begin(), reluctance_ * reluctance_ * at_[one]);
      for (std::size_t other = 0; other < at_.size(); ++other) {
        normal[one][other] = std::inner_product(slope.begin(), slope.end(), slopes[other].begin(), 0.0);
      }
      normal[one][one] = (normal[one][one] + reluctance_ * reluctance_) * (1 + damping);
    }
    return solved(std::move(normal), std::move(down));
  }

  /// Takes a step that lowers the cost; false where there is none, or the cost is level.
  bool improve(const Matrix& slopes) {
    const double before = cost(values_, at_);
    for (; damping_ <= kMostDamping; damping_ *= 10) {
      const std::optional<Vector> step = step_of(slopes, damping_);
      if (!step) { continue; }
      Vector next = at_;
      for (std::size_t one = 0; one < next.size(); ++one) { next[one] = std::clamp(next[one] + (*step)[one], -most_, most_); }
      Result<Vector> values = residuals_(next);
      if (!values || !(cost(*values, next) < before)) { continue; }
      const double after = cost(*values, next);
      at_ = std::move(next);
      values_ = std::move(*values);
      damping_ = std::max(damping_ / 10, kFirstDamping);
      return after < before * (1 - kLevel) && after > kClose * kClose * static_cast<double>(values_.size());
    }
    return false;
  }

  const LogResiduals& residuals_;
  double reluctance_;
  double most_;
  double damping_ = kFirstDamping;
  Vector at_;
  Vector values_;
};

}  // namespace

Result<Vector> least_squares(const LogResiduals& residuals, std::size_t constants, double reluctance, double most) {
  return Fit(residuals, constants, reluctance, most).run();
}

}  // namespace elbowroom::detail
