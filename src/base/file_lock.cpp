#include "base/file_lock.hpp"

#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <thread>

namespace elbowroom::detail {

LockState lock_within(const Descriptor& file, std::chrono::milliseconds limit) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds between_tries(20);
  const Clock::time_point until = Clock::now() + limit;
  while (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) { continue; }
    if (errno != EWOULDBLOCK) { return LockState::failed; }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    if (left.count() <= 0) { return LockState::held; }
    std::this_thread::sleep_for(std::min(left, between_tries));
  }
  return LockState::taken;
}

}  // namespace elbowroom::detail
