#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

/// What a program may do that the interposer does not follow. Once any of it is seen, the interposer stands aside for good: every
/// hook calls the function that the program meant, and the report names the row. Nothing that was ever gained depends on acting
/// there, so a defect that needs a constructed program becomes a row here and no mechanism.
namespace elbowroom::interposer {

enum class Unusual : std::uint8_t {
  second_driver,
  second_library,
  other_definition,
  deep_binding,
  other_namespace,
  answered_look_ups,
  newer_form,
  reentered,
  forked,
  green_context,
  masked_stream,
  foreign_event,
  external_semaphore,
  context_wait,
  multi_device_launch,
  device_launch,
  ended_context,
  many_threads,
  count
};
inline constexpr std::size_t kUnusualRows = static_cast<std::size_t>(Unusual::count);

/// The report's words, by row. docs/deadlock.md lists them all.
inline constexpr std::array<const char*, kUnusualRows> kUnusualWords{
    "a second driver is loaded",
    "a second copy of a collectives' or product library is called",
    "another library defines a function of the driver",
    "a library is loaded with RTLD_DEEPBIND and calls past the hooks",
    "a library is loaded in a namespace of its own (dlmopen) and calls past the hooks",
    "another preloaded library answers dlsym",
    "the driver has a newer form of a hooked function, which the program asked for",
    "a signal handler calls the driver while it interrupts a hook",
    "a forked child uses the driver of its parent",
    "a green context is used",
    "a stream is kept to some of the compute units",
    "an event is shared with another process or made for what is drawn",
    "a stream waits for an external semaphore",
    "a whole context waits for an event or records one",
    "a cooperative kernel is launched on several devices at once",
    "a graph is made that kernels launch",
    "a context that was used is destroyed",
    "more than 65,534 threads use default streams of their own",
};

/// What was seen, as a bit for each row, and who did each first; null: nobody is named.
struct UnusualSeen {
  std::atomic<std::uint32_t> rows{0};
  std::array<std::atomic<const char*>, kUnusualRows> by{};
};
inline constinit UnusualSeen unusual_seen{};

/// Lock-free, and asked first by every hook.
[[nodiscard]] inline bool stands_aside() { return unusual_seen.rows.load(std::memory_order_relaxed) != 0; }

/// `by` lives as long as the process.
inline void stand_aside(Unusual row, const char* by = nullptr) {
  const auto index = static_cast<std::size_t>(row);
  const char* nobody = nullptr;
  if (by != nullptr) { unusual_seen.by[index].compare_exchange_strong(nobody, by); }
  unusual_seen.rows.fetch_or(std::uint32_t{1} << index);
}

}  // namespace elbowroom::interposer
