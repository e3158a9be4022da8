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
#include "interposer/cuda/contexts.hpp"
#include "interposer/cuda/driver_calls.hpp"

namespace elbowroom::interposer::cuda {

/// Pairs of events around the few launches that the core wants timed. Event pairs are made when first needed and used again.
class LaunchTimer {
 public:
  LaunchTimer(const DriverCalls& driver, Core& core) : driver_(driver), core_(core) {}

  /// Records the first event; the index of the pair, or kNone when none is free or the driver refused.
  int begin(cu::Context context, cu::Stream stream);
  /// Records the second event of a pair; `ticket` is told its time later, or that there will be none.
  void end(int pair, cu::Stream stream, Ticket ticket);
  /// Gives up a pair whose launch failed.
  void drop(int pair);

  /// Records that a step begins on this stream; the core is told its time once the next one has begun there as well.
  void begin_step(cu::Context context, cu::Stream stream, std::uint64_t step);

  /// Tells the core of the pairs and steps that have finished. Cheap when there is nothing to ask or it was asked a moment ago.
  void poll(std::uint64_t now_ns);

  /// The events of `context` (null: of every context) are gone.
  void forget(cu::Context context);

  static constexpr int kNone = -1;

 private:
  static constexpr std::size_t kPairs = 128;
  static constexpr std::uint64_t kPollInterval = 200'000;  // ns

  enum class Stage : std::uint8_t { kFree, kOpen, kPending };
  struct Pair {
    cu::Context context = nullptr;
    cu::Event begin = nullptr;
    cu::Event end = nullptr;
    Ticket ticket = 0;
    Stage stage = Stage::kFree;
  };
  struct StepEvent {
    cu::Context context = nullptr;
    cu::Stream stream = nullptr;
    cu::Event event = nullptr;
    std::uint64_t step = 0;  ///< 0: not recorded
  };
  /// A host that runs ahead begins many steps before the first of them has ended; none of those that are compared may be lost.
  static constexpr std::size_t kSteps = AbTrial::kMostAhead;

  // With the lock held.
  int take(cu::Context context);
  /// Gives the mark an event of `context`; false where the driver does not.
  bool renew(StepEvent& mark, cu::Context context);
  void poll_pairs(std::uint64_t now_ns);
  /// False: not yet.
  bool tell(Pair& pair, std::uint64_t now_ns);
  void poll_steps();

  const DriverCalls& driver_;
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

}  // namespace elbowroom::interposer::cuda
