#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "explain/intervals.hpp"
#include "explain/trace.hpp"

namespace elbowroom::explain {

/// The steps of a trace, as windows of the device's time. Each goes from its first kernel to the next one's.
struct Steps {
  std::vector<Interval> windows;
  std::string anchor;       ///< what tells steps apart, in words: "ProfilerStep", "the repeating sequence of 380 kernels"
  std::size_t dropped = 0;  ///< warm-up and steps of another length or content
};

/// By the profiler's marks where there are any, else by the longest sequence of kernels that repeats, else the whole trace is one.
Steps find_steps(const Trace& trace);

}  // namespace elbowroom::explain
