#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recorder/recording.hpp"

namespace elbowroom::recorder {

/// A sequence of kernels that comes again and again: a program's steps.
struct Repetition {
  std::size_t period = 0;  ///< kernels; 0: nothing repeats
  std::size_t count = 0;   ///< whole periods
  Time length = 0;         ///< of a period, in the mean
};

/// Of the stream with most kernels, by the rule that finds the steps of a trace. At least half of its kernels must belong to the
/// repetition: a few equal kernels in a row are no steps.
Repetition repetition_of(const std::vector<Kernel>& kernels);

}  // namespace elbowroom::recorder
