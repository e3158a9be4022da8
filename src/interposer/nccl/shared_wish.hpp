#pragma once

#include <atomic>
#include <cstdint>

#include "interposer/core/rank_agreement.hpp"

namespace elbowroom::interposer::nccl {

/// What the communicators of this process have agreed on, for the comparisons of arms, and what these want. Written where NCCL
/// asks, by any thread.
struct SharedWish {
  std::atomic<std::uint64_t> asked{0}, as_wanted{0}, all_ready{0};
  std::atomic<std::uint32_t> agreed{0};
  std::atomic<bool> follows{false};
  std::atomic<bool> with_processes{false};
  std::atomic<std::uint64_t> source{0};   ///< number of the process that this one follows; 0: none is known
  std::atomic<std::uint32_t> unready{0};  ///< communicators that this process leads, of which not all are ready for the same
  std::atomic<std::uint32_t> wanted{0};
  std::atomic<std::uint64_t> ready{0};

  void stop_following() {
    agreed.store(0, std::memory_order_relaxed);
    source.store(0, std::memory_order_relaxed);
    follows.store(false, std::memory_order_relaxed);
  }
  /// What the communicators that this process leads are to have: a process that follows another one hands on what that one decided.
  [[nodiscard]] std::uint32_t to_lead_with() const {
    return (follows.load(std::memory_order_relaxed) ? agreed : wanted).load(std::memory_order_relaxed);
  }
};

/// The process's own, for the core.
RankAgreement rank_agreement();

}  // namespace elbowroom::interposer::nccl
