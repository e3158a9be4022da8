#pragma once

#include <atomic>
#include <cstdint>

#include "interposer/core/rules.hpp"
#include "interposer/nccl/budget_counts.hpp"
#include "interposer/nccl/communicators.hpp"
#include "interposer/nccl/shared_budget.hpp"

namespace elbowroom::interposer::nccl {

/// All that this room keeps of its process.
struct State {
  Rules rules;
  std::atomic<std::uint64_t> calls{0};            ///< of collectives, sends and receives
  std::atomic<const char*> users_tuner{nullptr};  ///< name of the plugin that is asked first
  MadeCommunicators communicators;
  BudgetCounts budgets;
  SharedBudget shared;
};

/// Made when NCCL is first asked for something that this room has a say in; never destroyed.
State& state();

}  // namespace elbowroom::interposer::nccl
