#pragma once

#include <atomic>
#include <cstdint>

#include "interposer/core/rules.hpp"
#include "interposer/nccl/communicators.hpp"

namespace elbowroom::interposer::nccl {

/// What this room counts of its process.
struct State {
  std::atomic<std::uint64_t> calls{0};  ///< of collectives, sends and receives
  MadeCommunicators communicators;
};

/// There from the load on and never destroyed, as handlers and what runs at a program's very end call NCCL too.
State& state();

/// Read from their file when they are first wanted. In a handler that interrupted that, rules that ask for nothing.
const Rules& rules();

}  // namespace elbowroom::interposer::nccl
