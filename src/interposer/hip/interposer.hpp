#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "interposer/core/core.hpp"
#include "interposer/hip/carriers.hpp"
#include "interposer/hip/launch_timer.hpp"
#include "interposer/hip/runtime_calls.hpp"
#include "interposer/process/foreign_events.hpp"
#include "interposer/process/graph_table.hpp"
#include "interposer/process/hook_table.hpp"
#include "interposer/process/process.hpp"

namespace elbowroom::interposer::hip {

using namespace process;

/// HIP has one context for each device.
constexpr ContextId context_of_device(int device) { return (static_cast<std::uint64_t>(device) + 1) * 8; }
constexpr int device_of_context(ContextId context) { return static_cast<int>(context / 8) - 1; }

/// A kernel is launched by its handle or by its host function, whose values may meet.
inline FunctionId function_id(hip::Function function) { return reinterpret_cast<std::uintptr_t>(function); }
inline FunctionId host_function_id(const void* function) {
  return reinterpret_cast<std::uintptr_t>(function) | (std::uint64_t{1} << 63U);
}

/// Everything the library knows about its process: one object, made when a program first calls a hooked function of the runtime and never
/// destroyed, because programs call the runtime until their very end.
struct Interposer {
  RuntimeCalls calls;
  Rules rules;
  std::unique_ptr<Core> core;
  Carriers carriers;
  GraphTable graphs;
  ForeignEvents foreign_events;
  LaunchTimer timer;
  Overhead overhead;
  int version = 0;                        ///< of the runtime, as in HIP_VERSION; 0: unknown
  std::atomic<bool> used{false};          ///< in this process, since it was forked
  std::atomic<std::uint64_t> devices{0};  ///< a bit for each that streams were seen of

  Interposer(const RuntimeCalls& found, const Rules& read, std::unique_ptr<Core> made);

  /// The core's name for a stream that a program passed to a function with that default stream.
  [[nodiscard]] StreamId stream_id(hip::Stream stream, DefaultStream default_stream) const;
  /// The device of a stream as a hook was given it, or -1.
  [[nodiscard]] int device_of(hip::Stream stream) const;
  [[nodiscard]] int current_device() const;
};

/// The process's interposer; null where nothing can be interposed (no runtime is loaded, no memory): call the real function.
Interposer* interposer();

inline std::uint64_t id_of(const void* handle) { return reinterpret_cast<std::uintptr_t>(handle); }

/// A stream handle that means the same in entry points with and without per-thread default stream.
inline hip::Stream explicit_stream(hip::Stream stream, DefaultStream default_stream) {
  const bool per_thread = stream == nullptr && default_stream == DefaultStream::kPerThread;
  return per_thread ? reinterpret_cast<hip::Stream>(hip::kStreamPerThread) : stream;
}

}  // namespace elbowroom::interposer::hip
