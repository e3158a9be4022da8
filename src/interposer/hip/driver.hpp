#pragma once

#include <atomic>
#include <cstddef>
#include <optional>

#include "interposer/core/core.hpp"
#include "interposer/hip/carriers.hpp"
#include "interposer/hip/runtime_calls.hpp"
#include "interposer/nccl/ranks.hpp"
#include "interposer/nccl/state.hpp"

namespace elbowroom::interposer::hip {

/// A kernel is launched by its handle or by its host function, whose values may meet.
inline FunctionId host_function_id(const void* function) {
  return reinterpret_cast<std::uintptr_t>(function) | (std::uint64_t{1} << 63U);
}

/// The HIP runtime, with the members of cuda::Driver. A place is a device, which has one context.
struct Driver {
  using Stream = hip::Stream;
  using Event = hip::Event;
  using GraphExec = hip::GraphExec;
  using Calls = RuntimeCalls;
  using OwnCalls = KeepsLastError;
  using RelaxedCapture = hip::RelaxedCapture;
  using Place = int;

  static constexpr int kSuccess = hip::kSuccess;
  static constexpr int kErrorNotReady = hip::kErrorNotReady;
  static constexpr std::uintptr_t kStreamLegacy = hip::kStreamLegacy;
  static constexpr std::uintptr_t kStreamPerThread = hip::kStreamPerThread;
  static constexpr Place kNowhere = -1;
  static constexpr const char* kFinder = "hipGetProcAddress:";
  static constexpr void (*kWriteMore)(ReportWriter&) = &nccl::write_report;
  static constexpr RankAgreement (*kRanks)() = &nccl::rank_agreement;

  explicit Driver(const Calls& found);
  static std::optional<Calls> find();
  static const char* leave_possible(Rules& rules);

  /// A device that is not known counts as the first.
  static ContextId context_id(Place device) { return (static_cast<std::uint64_t>(device < 0 ? 0 : device) + 1) * 8; }
  static Place place_of(ContextId id) { return static_cast<Place>(id / 8) - 1; }
  [[nodiscard]] Place current_place() const;
  [[nodiscard]] Place place_of(Stream stream) const;
  /// Also where the runtime can be asked and does not say.
  [[nodiscard]] bool is_captured(Stream stream) const;
  int device(Place place);
  static std::uint32_t sms(Place /*device*/) { return 0; }
  [[nodiscard]] int devices_seen() const;

  [[nodiscard]] bool can_time() const;
  bool make_event(Place device, Event& event) const;
  void destroy_event(Place device, Event event) const;
  /// The question for its time needs one with a time.
  bool make_end_event(Place device, Event& event, bool /*timed*/) const { return make_event(device, event); }
  /// To the runtime an event is of the capture that its stream is in, also where it was recorded before. hipEventQuery breaks that
  /// one, whatever the mode of the thread. The question for the time does not.
  [[nodiscard]] bool has_passed(Event event) const {
    float unused = 0;
    return elapsed(unused, event, event) == kSuccess;
  }
  static bool watch_begin(Place /*device*/, EventSlot /*slot*/) { return false; }
  static bool begin_told(Place /*device*/, Event /*end*/) { return false; }
  int elapsed(float& milliseconds, Event begin, Event end) const;

  static void load_function(FunctionId /*id*/) {}
  [[nodiscard]] FunctionInfo describe_function(FunctionId id) const;
  [[nodiscard]] DeviceInfo describe_device(int device) const;
  [[nodiscard]] std::uint32_t blocks_per_sm(FunctionId id, std::uint32_t threads, std::uint32_t dynamic_shared) const;

  Calls calls;
  Carriers carriers;

 private:
  std::atomic<std::uint64_t> devices_{0};  // a bit for each that device() told
};

}  // namespace elbowroom::interposer::hip
