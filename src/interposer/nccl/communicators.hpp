#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "interposer/core/communicator_settings.hpp"
#include "interposer/core/own_mutex.hpp"

namespace elbowroom::interposer::nccl {

/// What was done to one communicator when it was made.
struct MadeCommunicator {
  const char* call = "";  ///< the function of NCCL, a literal
  int ranks = 0;          ///< 0: a child's, which the call does not tell
  CommunicatorSettings settings;
};

/// The communicators of this process, for its report. Those beyond the table are counted.
class MadeCommunicators {
 public:
  static constexpr std::size_t kMost = 64;

  void add(const MadeCommunicator& made) {
    const std::scoped_lock hold(mutex_);
    const std::size_t count = count_.load(std::memory_order_relaxed);
    if (count < kMost) { made_[count] = made; }
    count_.store(count + 1, std::memory_order_release);
  }

  // Without the lock: a report may be written by a handler that interrupted `add`.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t i = 0; i < count() && i < kMost; ++i) { visit(made_[i]); }
  }
  [[nodiscard]] std::size_t count() const { return count_.load(std::memory_order_acquire); }

 private:
  OwnMutex mutex_;
  std::array<MadeCommunicator, kMost> made_{};
  std::atomic<std::size_t> count_{0};
};

}  // namespace elbowroom::interposer::nccl
