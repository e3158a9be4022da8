#pragma once

namespace elbowroom::interposer {

/// Student's t distribution for whole degrees of freedom, 1 to 1,000. Source: Abramowitz and Stegun, 26.7.3 and 26.7.4.
/// The probability of a value above `t`; at least 1e-15, below which the series has no digits left.
double upper_tail(double t, unsigned degrees);
/// The value above which lies `tail`, 1e-12 to 0.5.
double critical_value(double tail, unsigned degrees);

}  // namespace elbowroom::interposer
