#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "interposer/core/communicator_settings.hpp"

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
    if (count_ < kMost) { made_[count_] = made; }
    ++count_;
  }

  template <class Visit>
  void for_each(Visit&& visit) {
    const std::scoped_lock hold(mutex_);
    for (std::size_t i = 0; i < count_ && i < kMost; ++i) { visit(made_[i]); }
  }
  [[nodiscard]] std::uint64_t count() {
    const std::scoped_lock hold(mutex_);
    return count_;
  }

 private:
  std::mutex mutex_;
  std::array<MadeCommunicator, kMost> made_{};
  std::size_t count_ = 0;
};

}  // namespace elbowroom::interposer::nccl
