#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "interposer/core/core.hpp"
#include "interposer/core/own_mutex.hpp"
#include "interposer/cuda/driver_calls.hpp"
#include "interposer/driver/calls.hpp"

namespace elbowroom::interposer::cuda {

/// Makes a context current for a scope, where it is not.
class CurrentContext {
 public:
  CurrentContext(const DriverCalls& driver, cu::Context context);
  ~CurrentContext();
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  const DriverCalls& driver_;
  bool pushed_ = false;
  bool ok_ = false;
};

using RelaxedCapture = driver::RelaxedCapture<DriverCalls, cu::kCaptureModeRelaxed>;

/// Makes an event of the context, whichever one is current and whatever is captured.
bool make_event(const DriverCalls& driver, cu::Context context, cu::Event& event, unsigned flags);
/// An event that its driver does not take back is lost, and nothing else is.
void destroy_event(const DriverCalls& driver, cu::Context context, cu::Event event);

/// What the interposer keeps of each context: its device, its greatest priority and the completion events of the core's slots.
/// At most kContexts; what needs a further one is left out.
class Contexts {
 public:
  static constexpr std::size_t kContexts = 24;

  explicit Contexts(const DriverCalls& driver) : driver_(driver) {}

  /// The context that is current on this thread; null: none.
  [[nodiscard]] cu::Context current() const;
  /// The context of a stream as a launch hook was given it.
  [[nodiscard]] cu::Context of(cu::Stream stream) const;

  struct Facts {
    int device = -1;              ///< its ordinal; -1: the driver does not say
    std::uint32_t sms = 0;        ///< of those of its device; 0: the driver does not say
    std::optional<int> greatest;  ///< priority of a stream, where there are several
  };
  Facts facts_of(cu::Context context);
  /// The stream and the event that watch a begin, made and used by one thread at a time.
  struct Watch {
    cu::Stream stream = nullptr;
    cu::Event begun = nullptr;
  };
  Watch* watch_of(cu::Context context);
  /// The event of a slot that tells of a begin, made on first use; null when that failed.
  cu::Event completion_event(cu::Context context, EventSlot slot);

  /// Whether streams of the context were seen.
  [[nodiscard]] bool knows(cu::Context context) const;
  [[nodiscard]] bool knows_any_of(cu::Device device) const;
  /// Also where the driver does not say.
  [[nodiscard]] bool is_primary_active(cu::Device device) const;
  /// How many devices contexts were seen of.
  [[nodiscard]] int devices_seen() const;

 private:
  struct Entry {
    cu::Context context = nullptr;
    Facts facts;
    std::array<cu::Event, kEventSlots> events{};
    Watch watch;
  };
  Entry* find(cu::Context context);  // with the lock held; one that is free for null
  // The driver is called without the lock. It may wait for what a context is about, which another context's launch may be needed
  // for.
  [[nodiscard]] Facts ask(cu::Context context) const;

  const DriverCalls& driver_;
  mutable OwnMutex mutex_;
  std::array<Entry, kContexts> entries_{};
  std::atomic<std::uint64_t> devices_seen_{0};  // a bit each; read at exit, maybe by a handler that interrupted a call of this
};

}  // namespace elbowroom::interposer::cuda
