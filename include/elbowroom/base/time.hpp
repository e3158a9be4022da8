#pragma once

#include <chrono>

namespace elbowroom {

/// Durations that come from arithmetic (medians, ratios times a duration).
using Microseconds = std::chrono::duration<double, std::micro>;
/// Time stamps of kernel records, as the device's clock gives them.
using Nanoseconds = std::chrono::nanoseconds;

}  // namespace elbowroom
