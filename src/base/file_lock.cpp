#include "base/file_lock.hpp"

#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <thread>

namespace elbowroom::detail {
namespace {

/// Lustre without -o flock says ENOSYS, NFS without its daemon ENOLCK, others EOPNOTSUPP. Linux's own ENOTSUPP comes through from
/// some.
bool means_no_locks(int error) {
  constexpr int kernels_not_supported = 524;
  return error == ENOSYS || error == ENOLCK || error == EOPNOTSUPP || error == kernels_not_supported;
}

}  // namespace

LockState lock_within(const Descriptor& file, std::chrono::milliseconds limit) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds between_tries(5);
  const Clock::time_point until = Clock::now() + limit;
  while (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) { continue; }
    if (means_no_locks(errno)) { return LockState::absent; }
    if (errno != EWOULDBLOCK) { return LockState::failed; }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    if (left.count() <= 0) { return LockState::held; }
    std::this_thread::sleep_for(std::min(left, between_tries));
  }
  return LockState::taken;
}

}  // namespace elbowroom::detail
