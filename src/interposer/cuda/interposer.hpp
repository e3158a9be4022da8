#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "interposer/core/core.hpp"
#include "interposer/cuda/contexts.hpp"
#include "interposer/cuda/cublas_lt_descriptors.hpp"
#include "interposer/cuda/driver_calls.hpp"
#include "interposer/cuda/graph_facts.hpp"
#include "interposer/cuda/launch_timer.hpp"
#include "interposer/process/foreign_events.hpp"
#include "interposer/process/graph_table.hpp"
#include "interposer/process/hook_table.hpp"
#include "interposer/process/process.hpp"

namespace elbowroom::interposer::cuda {

using namespace process;

/// Everything the library knows about its process: one object, made when a program first calls a hooked driver function and never
/// destroyed, because programs call the driver until their very end.
struct Interposer {
  DriverCalls driver;
  Rules rules;
  // Every call looks at these two: one cache line.
  std::unique_ptr<Core> core;
  std::atomic<bool> used{false};  // in this process, since it was forked
  Contexts contexts;
  GraphTable graphs;
  ForeignEvents foreign_events;
  LaunchTimer timer;
  DescriptorTable descriptors;
  Overhead overhead;

  Interposer(const DriverCalls& calls, const Rules& rules, std::unique_ptr<Core> made);

  /// The core's name for a stream that a program passed to a function with that default stream.
  [[nodiscard]] StreamId stream_id(cu::Stream stream, DefaultStream default_stream) const;
};

/// The process's interposer; null where nothing can be interposed (no driver is loaded, no memory): call the real function.
Interposer* interposer();

inline StreamId id_of(const void* handle) { return reinterpret_cast<std::uintptr_t>(handle); }

/// A stream handle that means the same in entry points with and without per-thread default stream.
inline cu::Stream explicit_stream(cu::Stream stream, DefaultStream default_stream) {
  const bool per_thread = stream == nullptr && default_stream == DefaultStream::kPerThread;
  return per_thread ? reinterpret_cast<cu::Stream>(cu::kStreamPerThread) : stream;
}

}  // namespace elbowroom::interposer::cuda
