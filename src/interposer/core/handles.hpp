#pragma once

#include <cstdint>

namespace elbowroom::interposer {

/// What the driver calls CUcontext, CUstream, CUevent, CUfunction: the handle's value, never dereferenced. A handle may be reused
/// after its destruction was told. Zero is "none".
using ContextId = std::uint64_t;
using StreamId = std::uint64_t;
using EventId = std::uint64_t;
using FunctionId = std::uint64_t;

/// Names a launch in `on_launched` and `on_timing`. Zero: the core wants to hear nothing about this launch, whatever became of it.
using Ticket = std::uint64_t;
/// A call that makes a stream wait; 0: none that is followed.
using WaitId = std::uint64_t;

/// One or several events, and nobody says which.
constexpr EventId kSomeEvent = 0;

/// Handles are aligned pointers below 2^48, so tagged ids cannot meet a real stream's.
/// Stream 0 and CU_STREAM_LEGACY of a context (of the entry points without _ptsz).
constexpr StreamId legacy_stream(ContextId context) { return context | 1; }
/// CU_STREAM_PER_THREAD, and stream 0 of the _ptsz entry points. `thread` is a small number that the hooks give each thread.
constexpr StreamId per_thread_stream(ContextId context, std::uint32_t thread) {
  return context | (static_cast<std::uint64_t>(thread % 0xffffU + 1) << 48U) | 2;
}
/// What all streams of a context wait for that no stream does; the host can wait for it with the context alone.
constexpr StreamId whole_context(ContextId context) { return context | 3; }
constexpr bool is_per_thread_stream(StreamId stream, std::uint32_t thread) {
  return (stream & 7U) == 2 && stream >> 48U == thread % 0xffffU + 1;
}
constexpr bool is_whole_context(StreamId stream) { return (stream & 7U) == 3; }
constexpr bool is_legacy_stream(StreamId stream) { return (stream & 7U) == 1; }

/// In which of their lives function handles are, around a call that may end a context.
struct ModuleAges {
  std::uint32_t before = 0, meanwhile = 0;
};

}  // namespace elbowroom::interposer
