#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "interposer/core/ab_trial.hpp"
#include "interposer/core/core.hpp"
#include "interposer/core/own_mutex.hpp"
#include "interposer/core/pending_timings.hpp"
#include "interposer/hip/runtime_calls.hpp"

namespace elbowroom::interposer::hip {

/// Pairs of events around the few launches that the core wants timed, and events at the begin of steps. They are made when first needed and
/// used again.
class LaunchTimer {
 public:
  LaunchTimer(const RuntimeCalls& calls, Core& core) : calls_(calls), core_(core) {}

  /// Records the first event; the index of the pair, or kNone when none is free or the runtime refused.
  int begin(int device, hip::Stream stream);
  /// Records the second event of a pair; `ticket` is told its time later, or that there will be none.
  void end(int pair, hip::Stream stream, Ticket ticket);
  /// Gives up a pair whose launch failed.
  void drop(int pair);

  /// Records that a step begins on this stream; the core is told its time once the next one has begun there as well.
  void begin_step(int device, hip::Stream stream, std::uint64_t step);

  /// Tells the core of the pairs and steps that have finished. Cheap when there is nothing to ask or it was asked a moment ago. To be called
  /// before the program's own call, whose result hipGetLastError must tell.
  void poll(std::uint64_t now_ns);

  /// The device's events are gone.
  void forget(int device);

  static constexpr int kNone = -1;

 private:
  static constexpr std::size_t kPairs = 128;
  /// A host that runs ahead begins many steps before the first of them has ended; none of those that are compared may be lost.
  static constexpr std::size_t kSteps = AbTrial::kMostAhead;
  static constexpr std::uint64_t kPollInterval = 200'000;  // ns
  static constexpr int kNoDevice = -1;

  enum class Stage : std::uint8_t { kFree, kOpen, kPending };
  struct Pair {
    int device = kNoDevice;
    hip::Event begin = nullptr, end = nullptr;
    Ticket ticket = 0;
    Stage stage = Stage::kFree;
  };
  struct StepEvent {
    int device = kNoDevice;
    hip::Stream stream = nullptr;
    hip::Event event = nullptr;
    std::uint64_t step = 0;  ///< 0: not recorded
  };

  // With the lock held.
  [[nodiscard]] bool can_time() const;
  bool make_event(int device, hip::Event& event);
  int take(int device);
  bool renew(StepEvent& mark, int device);
  void poll_pairs(std::uint64_t now_ns);
  /// False: not yet.
  bool tell(Pair& pair, std::uint64_t now_ns);
  void poll_steps();
  /// The time between two events; `state` is the query's answer for the later one.
  bool elapsed(hip::Event begin, hip::Event end, int state, std::uint64_t& nanoseconds) const;

  const RuntimeCalls& calls_;
  Core& core_;
  OwnMutex mutex_;
  std::array<Pair, kPairs> pairs_{};
  PendingTimings<kPairs> awaited_;
  std::array<StepEvent, kSteps> steps_{};
  std::atomic<std::uint64_t> oldest_step_{0};  ///< whose time is not told yet; 0: none
  std::atomic<std::uint64_t> newest_step_{0};
  std::atomic<int> pending_{0};
  std::atomic<std::uint64_t> next_poll_{0};
};

}  // namespace elbowroom::interposer::hip
