#pragma once

#include <chrono>

#include "base/descriptor.hpp"

namespace elbowroom::detail {

enum class LockState {
  taken,   ///< until the descriptor is closed
  held,    ///< by somebody else, for as long as was waited
  absent,  ///< this file system has no locks
  failed,  ///< errno says why
};

/// Takes flock's exclusive lock of an open file or folder. Anybody who can open it can hold it, so that the wait has a limit; 0:
/// one try.
LockState lock_within(const Descriptor& file, std::chrono::milliseconds limit);

}  // namespace elbowroom::detail
