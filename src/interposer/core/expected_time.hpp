#pragma once

#include <algorithm>
#include <cstdint>

namespace elbowroom::interposer {

/// Times on the clock of the host, in nanoseconds, at which something is expected to happen on a GPU.
struct Interval {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

/// When all that was enqueued so far on a stream (or before an event's record) is expected to have ended. Each launch is expected
/// to begin when what precedes it ends, but not before the host asked for it. It is expected to last as long as its kind was
/// measured to last.
struct Clock {
  std::uint64_t busy_until = 0;

  void join(const Clock& other) { busy_until = std::max(busy_until, other.busy_until); }

  /// All of it ended, or will end, this much earlier than expected.
  void advance(std::uint64_t nanoseconds) { busy_until -= std::min(busy_until, nanoseconds); }

  Interval enqueue(std::uint64_t now, std::uint64_t duration) {
    const std::uint64_t start = std::max(now, busy_until);
    busy_until = start + duration;
    return {start, busy_until};
  }
};

}  // namespace elbowroom::interposer
