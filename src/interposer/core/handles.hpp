#pragma once

#include <cstdint>

namespace elbowroom::interposer {

/// What the driver calls CUcontext, CUstream, CUevent, CUfunction: the handle's value, never dereferenced. A handle may be reused
/// after its destruction was told. Zero is "none".
using ContextId = std::uint64_t;
using StreamId = std::uint64_t;
using EventId = std::uint64_t;
using FunctionId = std::uint64_t;

/// Names a launch in `on_launched`. Zero: the core wants to hear nothing about this launch, whatever became of it.
using Ticket = std::uint64_t;
/// Handles are aligned pointers below 2^48, so tagged ids cannot meet a real stream's.
/// Stream 0 and CU_STREAM_LEGACY of a context (of the entry points without _ptsz).
constexpr StreamId legacy_stream(ContextId context) { return context | 1; }
inline constexpr std::uint32_t kMostThreads = 0xffff;
/// CU_STREAM_PER_THREAD, and stream 0 of the _ptsz entry points. `thread`: 1 to kMostThreads.
constexpr StreamId per_thread_stream(ContextId context, std::uint32_t thread) {
  return context | (static_cast<std::uint64_t>(thread) << 48U) | 2;
}
}  // namespace elbowroom::interposer
