#pragma once

#include "interposer/core/core.hpp"
#include "interposer/hip/hip_abi.hpp"
#include "interposer/process/hook_table.hpp"

namespace elbowroom::interposer::hip {

using namespace process;

/// A kernel launch as the program asked for it, whichever entry point it took.
struct LaunchRequest {
  const void* function = nullptr;  ///< a host function, or a hip::Function
  bool host_function = true;
  hip::Dim3 grid, block;  ///< in blocks and threads
  hip::Dim3 work{};       ///< in threads, of the entry points that count so
  std::size_t shared_bytes = 0;
  hip::Stream stream = nullptr;  ///< as the program gave it
  void** parameters = nullptr;
  void** extra = nullptr;
  DefaultStream default_stream = DefaultStream::kLegacy;
  bool cooperative = false;                    ///< by the entry point; an attribute may say so as well
  hip::Event start = nullptr, stop = nullptr;  ///< recorded by the launch itself
  unsigned flags = 0;
  hip::LaunchAttribute* attributes = nullptr;  ///< the program's own, never written
  unsigned attribute_count = 0;
};

/// Calls the entry point that the program called, with the arguments of the request.
using OriginalLaunch = int (*)(const LaunchRequest& request);

/// Launches exactly once: as the core decides, or as the program asked where a control cannot be carried out or makes the launch
/// fail. Returns what the runtime returned for the launch that counts.
int launch(const LaunchRequest& request, OriginalLaunch original);

/// Launches on several devices by one call, which are not followed.
int launch_several(const hip::LaunchParams* launches, int count, int (*call)(const hip::LaunchParams*, int, unsigned),
                   unsigned flags);

}  // namespace elbowroom::interposer::hip
