#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recorder/recording.hpp"

namespace elbowroom::recorder {

/// A sequence of kernels that came again and again up to the end of what was recorded: a program's steps.
struct Repetition {
  std::size_t period = 0;  ///< kernels; 0: nothing repeats
  std::size_t count = 0;   ///< whole periods
  Time length = 0;         ///< of a period, in the mean
};

/// Of the stream with most kernels. At least half of its kernels must belong to the repetition: a few equal kernels in a row are no
/// steps.
Repetition repetition_of(const std::vector<Kernel>& kernels);

/// The shortest period of the longest end of `keys` that has at least two; 0 where there is none. For tests.
struct PeriodicEnd {
  std::size_t period = 0;
  std::size_t length = 0;
};
PeriodicEnd periodic_end(const std::vector<std::uint64_t>& keys);

}  // namespace elbowroom::recorder
