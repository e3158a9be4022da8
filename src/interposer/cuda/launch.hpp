#pragma once

#include "interposer/core/core.hpp"
#include "interposer/cuda/driver_abi.hpp"
#include "interposer/process/hook_table.hpp"

namespace elbowroom::interposer::cuda {

using namespace process;

/// A kernel launch as the program asked for it, whichever entry point it took.
struct LaunchRequest {
  cu::LaunchConfig config;  // the stream as the program gave it; attributes are the program's own array, never written
  cu::Function function = nullptr;
  void** parameters = nullptr;
  void** extra = nullptr;
  DefaultStream default_stream = DefaultStream::kLegacy;
  bool cooperative = false;  // by the entry point; an attribute may say so as well
};

/// Calls the entry point that the program called, with the request's arguments.
using OriginalLaunch = int (*)(const LaunchRequest& request);

/// Launches exactly once: as the core decides, or as the program asked where a control cannot be carried out or makes the launch
/// fail. Returns what the driver returned for the launch that counts.
int launch(const LaunchRequest& request, OriginalLaunch original);

}  // namespace elbowroom::interposer::cuda
