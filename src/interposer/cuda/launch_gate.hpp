#pragma once

#include <atomic>

#include "interposer/core/pass_gate.hpp"
#include "interposer/core/rest_gate.hpp"
#include "interposer/cuda/driver_abi.hpp"

namespace elbowroom::interposer::cuda {

/// Read by every launch, in one cache line.
struct alignas(64) LaunchGate {
  RestGate rest;
  PassGate pass;
  /// Of the driver; null: not known yet. For launches on default streams.
  int (*current_context)(cu::Context*) = nullptr;
  std::atomic<bool> foreign_events{false};  ///< some event may be recorded by others: waits are looked at
};

inline constinit LaunchGate launch_gate{};

}  // namespace elbowroom::interposer::cuda
