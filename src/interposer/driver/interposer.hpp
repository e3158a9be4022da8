#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "interposer/core/core.hpp"
#include "interposer/core/fast_path.hpp"
#include "interposer/driver/end_events.hpp"
#include "interposer/driver/step_timer.hpp"
#include "interposer/process/hook_table.hpp"
#include "interposer/process/process.hpp"

namespace elbowroom::interposer::driver {

using process::DefaultStream;

inline constexpr DefaultStream kLegacy = DefaultStream::kLegacy;
inline constexpr DefaultStream kPerThread = DefaultStream::kPerThread;

inline std::uint64_t id_of(const void* handle) { return reinterpret_cast<std::uintptr_t>(handle); }

/// Of the process, and no part of its Interposer: a launch that needs no decision looks at nothing else of ours. It does so where
/// everything else stands aside, and in a handler that interrupts a hook.
inline constinit FastPath fast_path;

/// Everything the library knows about its process. It is one object, made when a program first calls a hooked driver function. It
/// is never destroyed, because programs call the driver until their very end.
template <class D>
struct Interposer {
  std::unique_ptr<Core> core;
  Rules rules;
  D driver;
  StepTimer<D> timer;
  EndEvents<D> ends;
  process::Overhead overhead;
  std::uint64_t begun_ns = process::now_ns();
  pid_t pid = getpid();  ///< whose state this is

  Interposer(const typename D::Calls& calls, const Rules& read, std::unique_ptr<Core> made)
      : core(std::move(made)), rules(read), driver(calls), timer(driver, *core), ends(driver) {}

  /// The core's name for a stream that a program passed to a function with that default stream.
  [[nodiscard]] StreamId stream_id(typename D::Stream stream, DefaultStream default_stream) const;
};

/// The process's interposer; null where nothing can be interposed (no driver is loaded, no memory): call the real function. Defined
/// by make_interposer.hpp, in one source of each vendor's room.
template <class D>
Interposer<D>* interposer();

/// A stream handle that means the same in entry points with and without per-thread default stream.
template <class D>
typename D::Stream explicit_stream(typename D::Stream stream, DefaultStream default_stream) {
  const bool per_thread = stream == nullptr && default_stream == kPerThread;
  return per_thread ? reinterpret_cast<typename D::Stream>(D::kStreamPerThread) : stream;
}

/// The core's name for a default stream that a program passed while this context was current.
template <class D>
StreamId default_stream_id(typename D::Stream stream, DefaultStream default_stream, ContextId current) {
  const bool per_thread = reinterpret_cast<std::uintptr_t>(explicit_stream<D>(stream, default_stream)) == D::kStreamPerThread;
  return per_thread ? per_thread_stream(current, process::thread_number()) : legacy_stream(current);
}

/// Handles of default streams mean another stream in each context or thread.
template <class D>
bool is_default_stream(typename D::Stream stream) {
  return reinterpret_cast<std::uintptr_t>(stream) <= D::kStreamPerThread;
}

template <class D>
StreamId Interposer<D>::stream_id(typename D::Stream stream, DefaultStream default_stream) const {
  if (!is_default_stream<D>(stream)) [[likely]] { return id_of(stream); }
  return default_stream_id<D>(stream, default_stream, D::context_id(driver.current_place()));
}

}  // namespace elbowroom::interposer::driver
