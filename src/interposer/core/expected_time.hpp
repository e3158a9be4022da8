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
  std::uint64_t collectives_until = 0;  ///< the same for collectives alone

  void join(const Clock& other) {
    busy_until = std::max(busy_until, other.busy_until);
    collectives_until = std::max(collectives_until, other.collectives_until);
  }

  /// What is enqueued now must first wait for a collective, rather than for compute or for nothing.
  [[nodiscard]] bool queued_behind_collective(std::uint64_t now) const {
    return collectives_until > now && collectives_until >= busy_until;
  }

  /// All of it ended, or will end, this much earlier than expected.
  void advance(std::uint64_t nanoseconds) {
    busy_until -= std::min(busy_until, nanoseconds);
    collectives_until = std::min(collectives_until, busy_until);
  }

  Interval enqueue(std::uint64_t now, std::uint64_t duration) {
    const std::uint64_t start = std::max(now, busy_until);
    busy_until = start + duration;
    return {start, busy_until};
  }
};

}  // namespace elbowroom::interposer
