#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "interposer/core/pass_gate.hpp"
#include "interposer/core/rest_gate.hpp"
#include "interposer/cuda/driver_abi.hpp"

// The exported launch functions that programs call often are a few instructions. While the program is left alone (core/rest.hpp) a
// launch of a function that needs nobody's attention goes on to the driver from there. Stack and arguments are as they were. It
// costs two cache lines of data and one of code. All other launches go on to the hooks below, which have the same arguments.

namespace elbowroom::interposer::cuda {

enum class LaunchEntry : std::size_t { kKernel, kKernelPtsz, kKernelEx, kKernelExPtsz };

/// Read by the entries, and laid out for them: what launches look at is in the first cache line.
struct alignas(64) LaunchGate {
  RestGate rest;
  std::array<std::atomic<void*>, 4> real{};  ///< the driver's functions, by LaunchEntry; null: not known yet, the hook is asked
  PassGate pass;                             ///< read by the hooks
  /// Of the driver; null: not known yet. In a line of its own, for launches on default streams.
  int (*current_context)(cu::Context*) = nullptr;
  std::atomic<bool> foreign_events{false};  ///< some event may be recorded by others: waits are looked at
};

}  // namespace elbowroom::interposer::cuda

extern "C" {
__attribute__((visibility("hidden"))) extern elbowroom::interposer::cuda::LaunchGate elbowroom_launch_gate;

namespace cu = elbowroom::interposer::cuda::cu;
__attribute__((visibility("hidden"))) int elbowroom_hook_cuLaunchKernel(cu::Function function, unsigned grid_x, unsigned grid_y,
                                                                        unsigned grid_z, unsigned block_x, unsigned block_y,
                                                                        unsigned block_z, unsigned shared_bytes, cu::Stream stream,
                                                                        void** parameters, void** extra);
__attribute__((visibility("hidden"))) int elbowroom_hook_cuLaunchKernel_ptsz(cu::Function function, unsigned grid_x,
                                                                             unsigned grid_y, unsigned grid_z, unsigned block_x,
                                                                             unsigned block_y, unsigned block_z,
                                                                             unsigned shared_bytes, cu::Stream stream,
                                                                             void** parameters, void** extra);
__attribute__((visibility("hidden"))) int elbowroom_hook_cuLaunchKernelEx(const cu::LaunchConfig* config, cu::Function function,
                                                                          void** parameters, void** extra);
__attribute__((visibility("hidden"))) int elbowroom_hook_cuLaunchKernelEx_ptsz(const cu::LaunchConfig* config,
                                                                               cu::Function function, void** parameters,
                                                                               void** extra);
}
