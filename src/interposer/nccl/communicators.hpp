#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

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

  // Without a lock, which a forked child could find held. A report may be written by a handler that interrupted this.
  void add(const MadeCommunicator& made) {
    if (made.ranks != 1) { several_ranks_.store(true, std::memory_order_relaxed); }
    const std::size_t place = count_.fetch_add(1, std::memory_order_relaxed);
    if (place >= kMost) { return; }
    made_[place] = made;
    whole_[place].store(true, std::memory_order_release);
  }

  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t i = 0; i < kMost; ++i) {
      if (whole_[i].load(std::memory_order_acquire)) { visit(made_[i]); }
    }
  }
  /// Some has several ranks, or nobody told how many.
  [[nodiscard]] bool several_ranks() const { return several_ranks_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::array<MadeCommunicator, kMost> made_{};
  std::array<std::atomic<bool>, kMost> whole_{};
  std::atomic<std::size_t> count_{0};
  std::atomic<bool> several_ranks_{false};
};

}  // namespace elbowroom::interposer::nccl
