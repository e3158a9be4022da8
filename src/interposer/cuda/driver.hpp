#pragma once

#include <optional>

#include "interposer/core/core.hpp"
#include "interposer/cuda/contexts.hpp"
#include "interposer/cuda/driver_calls.hpp"
#include "interposer/nccl/ranks.hpp"
#include "interposer/nccl/state.hpp"

namespace elbowroom::interposer::cuda {

/// CUDA's driver. Its public members are those that driver/ asks of each vendor's. One object in a process, shared by all threads.
/// A place is what streams and events belong to and go with: here a context.
struct Driver {
  using Stream = cu::Stream;
  using Event = cu::Event;
  using GraphExec = cu::GraphExec;
  using Calls = DriverCalls;
  using RelaxedCapture = cuda::RelaxedCapture;
  using Place = cu::Context;
  /// The driver keeps no last error.
  struct OwnCalls {
    explicit OwnCalls(const Calls& /*calls*/) {}
  };

  static constexpr int kSuccess = cu::kSuccess;
  static constexpr int kErrorNotReady = cu::kErrorNotReady;
  static constexpr std::uintptr_t kStreamLegacy = cu::kStreamLegacy;
  static constexpr std::uintptr_t kStreamPerThread = cu::kStreamPerThread;
  static constexpr Place kNowhere = nullptr;
  static constexpr const char* kFinder = "cuGetProcAddress:";
  static constexpr void (*kWriteMore)(ReportWriter&) = &nccl::write_report;
  static constexpr RankAgreement (*kRanks)() = &nccl::rank_agreement;

  explicit Driver(const Calls& found) : calls(found), contexts(calls) {}
  static std::optional<Calls> find();
  /// Why there can be no gate; null: there can.
  static const char* leave_possible(Rules& rules);

  static ContextId context_id(Place context) { return reinterpret_cast<std::uintptr_t>(context); }
  static Place place_of(ContextId id) { return reinterpret_cast<Place>(static_cast<std::uintptr_t>(id)); }
  [[nodiscard]] Place current_place() const { return contexts.current(); }
  [[nodiscard]] Place place_of(Stream stream) const { return contexts.of(stream); }
  /// Also where the driver can be asked and does not say.
  [[nodiscard]] bool is_captured(Stream stream) const;
  int device(Place context) { return contexts.facts_of(context).device; }
  std::uint32_t sms(Place context) { return contexts.facts_of(context).sms; }
  [[nodiscard]] int devices_seen() const { return contexts.devices_seen(); }

  [[nodiscard]] bool can_time() const {
    return calls.event_create != nullptr && calls.event_record != nullptr && calls.event_query != nullptr &&
           calls.event_elapsed_time != nullptr;
  }
  bool make_event(Place context, Event& event) const { return cuda::make_event(calls, context, event, 0); }
  bool make_end_event(Place context, Event& event, bool timed) const {
    return cuda::make_event(calls, context, event, timed ? 0 : cu::kEventDisableTiming);
  }
  void destroy_event(Place context, Event event) const { cuda::destroy_event(calls, context, event); }
  [[nodiscard]] bool has_passed(Event event) const { return calls.event_query(event) == cu::kSuccess; }
  /// Has a stream of ours wait for the slot's begin event, as a gated launch's does, and record the time.
  bool watch_begin(Place context, EventSlot slot);
  /// True: that was clearly before `end`, which has a time.
  [[nodiscard]] bool begin_told(Place context, Event end);
  int elapsed(float& milliseconds, Event begin, Event end) const {
    const int state = calls.event_query(end);
    return state == cu::kSuccess ? calls.event_elapsed_time(&milliseconds, begin, end) : state;
  }

  void load_function(FunctionId id) const;
  [[nodiscard]] FunctionInfo describe_function(FunctionId id) const;
  [[nodiscard]] DeviceInfo describe_device(int device) const;
  [[nodiscard]] std::uint32_t blocks_per_sm(FunctionId id, std::uint32_t threads, std::uint32_t dynamic_shared) const;

  Calls calls;
  Contexts contexts;
};

}  // namespace elbowroom::interposer::cuda
