#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "explain/collectives.hpp"
#include "explain/intervals.hpp"
#include "explain/steps.hpp"
#include "explain/trace.hpp"

namespace elbowroom::explain {

/// One rank's trace and what was found in it; later questions read this and change nothing.
struct RankView {
  Trace trace;
  Steps steps;
  std::vector<Collective> collectives;
  Intervals compute, communication, copies;
  std::vector<std::uint32_t> compute_rows;  ///< in the order of their begin
  std::vector<std::uint32_t> work_rows;     ///< the same of all that is no communication: a copy may wait for a collective too
  /// What the device needs from the end of what a kernel waits for to its begin, and from a launch on the host. Longer gaps have
  /// another reason. The traces of ../shared have 2 to 9 us on NVIDIA GPUs, and 9 to 19 behind a collective on an MI300X.
  Time dispatch = 10'000;
  std::vector<std::uint32_t> before;         ///< of each row the one before it on its stream, or kNone
  std::vector<std::optional<Time>> waiting;  ///< of each collective, for the last participant; absent: it met nobody

  /// The first row that is no communication and begins at or behind `at`; absent where there is none.
  [[nodiscard]] std::optional<std::size_t> work_from(Time at) const;
  /// When all computation was done that the host had launched before `at`; absent where there was none.
  [[nodiscard]] std::optional<Time> end_of_compute_launched_before(Time at) const;

  std::vector<std::pair<Time, Time>> compute_ends;  ///< launch, and the last end of all launched up to then; ascending
};

/// `dispatch` follows from the device's vendor.
RankView view_of(Trace trace);

}  // namespace elbowroom::explain
