#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "elbowroom/base/result.hpp"

namespace elbowroom::detail {

/// Logarithms of predicted over measured, given the logarithms of each constant over its start. The same number at each call.
using LogResiduals = std::function<Result<std::vector<double>>(const std::vector<double>& logs)>;

/// The logarithms at which the sum of squared residuals is least, found by Levenberg and Marquardt's method from zeros. A constant
/// that no residual depends on stays where it starts: moving one by a factor of e costs as much as a residual of `reluctance`. None
/// moves beyond a factor of e^`most`. Errors are those of the residuals at the start; elsewhere such a step is not taken.
Result<std::vector<double>> least_squares(const LogResiduals& residuals, std::size_t constants, double reluctance, double most);

}  // namespace elbowroom::detail
