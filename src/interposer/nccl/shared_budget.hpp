#pragma once

#include <atomic>
#include <cstdint>

#include "interposer/core/rank_agreement.hpp"

namespace elbowroom::interposer::nccl {

/// What the communicators of this process have agreed on, for the comparison of budgets, and what that wants. Written where NCCL
/// asks, by any thread.
struct SharedBudget {
  std::atomic<std::uint64_t> asked{0}, as_wanted{0}, all_ready{0}, lowered{0};
  std::atomic<std::uint16_t> agreed{0};
  std::atomic<bool> follows{false};
  std::atomic<std::uint16_t> relayed{0};  ///< in force in a communicator that another process leads
  std::atomic<std::uint16_t> wanted{0};
  std::atomic<std::uint64_t> ready{0};

  void stop_following() {
    relayed.store(0, std::memory_order_relaxed);
    follows.store(false, std::memory_order_relaxed);
  }
  /// What the communicators that this process leads are to have: a process that follows another one hands on what that one decided.
  [[nodiscard]] std::uint16_t to_lead_with() const {
    return (follows.load(std::memory_order_relaxed) ? relayed : wanted).load(std::memory_order_relaxed);
  }
};

/// The process's own, for the core.
RankAgreement rank_agreement();

}  // namespace elbowroom::interposer::nccl
