#include "interposer/hip/launch.hpp"

#include <algorithm>
#include <array>

#include "interposer/core/collectives.hpp"
#include "interposer/driver/launch.hpp"
#include "interposer/driver/passing.hpp"
#include "interposer/hip/interposer.hpp"
#include "interposer/nccl/notes.hpp"

namespace elbowroom::interposer::hip {
using driver::explicit_stream;
using driver::launch_plainly;
using driver::Launched;
namespace {

bool says(const LaunchRequest& request, hip::LaunchAttributeId wanted) {
  for (unsigned i = 0; request.attributes != nullptr && i < request.attribute_count; ++i) {
    const hip::LaunchAttribute& attribute = request.attributes[i];
    if (attribute.id == wanted && (wanted != hip::kLaunchCooperative || attribute.value.cooperative != 0)) { return true; }
  }
  return false;
}

FunctionId id_of_function(const LaunchRequest& request) {
  if (request.host_function) { return host_function_id(request.function); }
  return reinterpret_cast<std::uintptr_t>(request.function);
}

LaunchFacts read_facts(const Interposer& state, const LaunchRequest& request, StreamId stream, std::uint64_t now) {
  LaunchFacts facts;
  facts.stream = stream;
  facts.function = id_of_function(request);
  facts.grid = {request.grid.x, request.grid.y, request.grid.z};
  facts.block = {request.block.x, request.block.y, request.block.z};
  facts.dynamic_shared = static_cast<std::uint32_t>(request.shared_bytes);
  facts.cooperative = request.cooperative || says(request, hip::kLaunchCooperative);
  facts.sets_priority = says(request, hip::kLaunchPriority);
  facts.note = nccl::note_of(request.stream);
  facts.host_time_ns = now;
  facts.thread = driver::own_thread<Driver>(*state.core);
  return facts;
}

// False: the launch goes the long way.
bool passes(const LaunchRequest& request, StreamId stream) {
  PassingThread* const thread = driver::told_thread<Driver>();
  if (thread == nullptr || request.cooperative || says(request, hip::kLaunchCooperative)) { return false; }
  const LaunchShape shape{id_of_function(request),
                          {request.grid.x, request.grid.y, request.grid.z},
                          {request.block.x, request.block.y, request.block.z},
                          static_cast<std::uint32_t>(request.shared_bytes)};
  return thread->take(*Driver::kPass, shape, stream, process::ticks());
}

bool order(const RuntimeCalls& calls, hip::Event event, hip::Stream before, hip::Stream after) {
  return calls.event_record(event, before) == hip::kSuccess && calls.stream_wait_event(after, event, 0) == hip::kSuccess;
}

// What failed with a control is launched as the program asked.
Launched launch_changed(const Interposer& state, const LaunchRequest& request, const LaunchRequest& changed,
                        OriginalLaunch original, DriverClock& clock) {
  int result = hip::kSuccess;
  {
    const KeepsLastError errors(state.driver.calls);
    result = clock.time([&] { return original.call(changed); });
  }
  if (result == hip::kSuccess) { return {result, LaunchOutcome::ok}; }
  return launch_plainly(request, original, LaunchOutcome::relaunched, clock);
}

// The collective goes to a stream of ours with the greatest priority, between two events that keep its place in the program's
// stream.
Launched launch_carried(Interposer& state, const LaunchRequest& request, OriginalLaunch original, const Carrier& carrier,
                        DriverClock& clock) {
  const hip::Stream stream = explicit_stream<Driver>(request.stream, request.default_stream);
  bool forked = false;
  {
    const KeepsLastError errors(state.driver.calls);
    forked = order(state.driver.calls, carrier.fork, stream, carrier.stream);
  }
  if (!forked) { return launch_plainly(request, original, LaunchOutcome::plain_ok, clock); }
  LaunchRequest carried = request;
  carried.stream = carrier.stream;
  const Launched launched = launch_changed(state, request, carried, original, clock);
  if (launched.outcome != LaunchOutcome::ok) { return launched; }
  // A launch whose place cannot be kept is told as failed rather than left without an order.
  if (!order(state.driver.calls, carrier.join, carrier.stream, stream)) {
    return {hip::kErrorInvalidHandle, LaunchOutcome::failed};
  }
  return launched;
}

Launched launch_controlled(Interposer& state, const LaunchRequest& request, OriginalLaunch original, const Decision& decision,
                           int device, DriverClock& clock) {
  if (decision.dynamic_shared != static_cast<std::uint32_t>(request.shared_bytes)) {
    LaunchRequest padded = request;
    padded.shared_bytes = decision.dynamic_shared;
    return launch_changed(state, request, padded, original, clock);
  }
  if (!decision.priority) { return launch_plainly(request, original, LaunchOutcome::ok, clock); }
  // In a capture the priority of a node counts, which is given when the graph is instantiated.
  Carrier carrier;
  if (!decision.captured) {
    carrier = state.driver.carriers.of(state.stream_id(request.stream, request.default_stream),
                                       explicit_stream<Driver>(request.stream, request.default_stream), device);
  }
  if (carrier.stream == nullptr) { return launch_plainly(request, original, LaunchOutcome::plain_ok, clock); }
  return launch_carried(state, request, original, carrier, clock);
}

int carry_out(Interposer& state, const LaunchRequest& request, OriginalLaunch original, const Decision& decision,
              DriverClock& clock) {
  const hip::Stream stream = explicit_stream<Driver>(request.stream, request.default_stream);
  // A capture may begin or end by an entry point that is not hooked. It would take in our events, and a carrier with them.
  if (decision.captured != state.driver.is_captured(stream)) {
    return driver::launch_untouched(*state.core, request, original, decision, LaunchOutcome::plain_ok, clock);
  }
  const int device = state.driver.place_of(stream);
  driver::LaunchEvents<Driver> events(state, decision, device, stream);
  const Launched launched = launch_controlled(state, request, original, decision, device, clock);
  events.launched(launched.outcome, launched.result == hip::kSuccess && launched.outcome != LaunchOutcome::relaunched);
  return launched.result;
}

int launch_as_decided(Interposer& state, const LaunchRequest& request, OriginalLaunch original, const Decision& decision,
                      DriverClock& clock) {
  return decision.untouched(static_cast<std::uint32_t>(request.shared_bytes))
             ? driver::launch_untouched(*state.core, request, original, decision, LaunchOutcome::ok, clock)
             : carry_out(state, request, original, decision, clock);
}

/// The events that the program gave to a launch. Both are recorded at their place beside the kernel, so that nobody can wait for
/// what is before it and not for what it tells.
class OwnEvents {
 public:
  OwnEvents(Core& core, const LaunchRequest& request) : core_(core), events_{request.start, request.stop} {
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (events_[i] != nullptr) { before_[i] = core.before_event_record(id_of(events_[i])); }
    }
  }
  void launched(bool recorded, StreamId stream) {
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (events_[i] == nullptr) { continue; }
      if (recorded) {
        // The launch's own collective is before the event. Nothing is gated here on what another thread launched meanwhile.
        before_[i].collectives_taken = kAllTaken;
        core_.on_event_record(id_of(events_[i]), stream, before_[i]);
      } else {
        core_.on_event_not_recorded(id_of(events_[i]), before_[i]);
      }
    }
  }

 private:
  Core& core_;
  std::array<hip::Event, 2> events_;
  std::array<RecordPoint, 2> before_{};
};

// The runtime's own entry points may call each other by their exported names, and so come back here.
thread_local constinit bool inside_launch = false;

class InsideLaunch {
 public:
  InsideLaunch() : entered_(!inside_launch) { inside_launch = true; }
  ~InsideLaunch() {
    if (entered_) { inside_launch = false; }
  }
  InsideLaunch(const InsideLaunch&) = delete;
  InsideLaunch& operator=(const InsideLaunch&) = delete;
  [[nodiscard]] bool entered() const { return entered_; }

 private:
  bool entered_;
};

}  // namespace

int launch(const LaunchRequest& request, OriginalLaunch original) {
  const InsideLaunch scope;
  Interposer* state = scope.entered() ? interposer() : nullptr;
  if (state == nullptr) { return original.call(request); }
  // Events that the program itself gave to the launch are for the core to know.
  const bool plain = request.start == nullptr && request.stop == nullptr;
  if (plain && state->core->leaves_alone(id_of_function(request))) { return original.call(request); }
  const StreamId stream = state->stream_id(request.stream, request.default_stream);
  if (plain && passes(request, stream)) { return original.call(request); }
  driver::LaunchAccount account(state->overhead);
  const std::uint64_t begin = account.begin();
  state->timer.poll(begin);  // before the program's own call, whose result hipGetLastError must tell
  const Decision decision = state->core->on_launch(read_facts(*state, request, stream, begin));
  state->overhead.count(decision.in_window);
  OwnEvents events(*state->core, request);
  const int result = launch_as_decided(*state, request, original, decision, account.clock);
  events.launched(result == hip::kSuccess, stream);
  account.end(decision.in_window);
  return result;
}

int launch_several(const hip::LaunchParams* launches, int count, int (*call)(const hip::LaunchParams*, int, unsigned),
                   unsigned flags, bool cooperative) {
  const InsideLaunch scope;
  Interposer* state = scope.entered() ? interposer() : nullptr;
  if (state == nullptr || launches == nullptr || count > kMaxDevices) { return call(launches, count, flags); }
  std::array<Ticket, kMaxDevices> tickets{};
  for (int i = 0; i < count; ++i) {
    const hip::LaunchParams& each = launches[i];
    LaunchRequest request;
    request.function = each.function;
    request.grid = each.grid;
    request.block = each.block;
    request.shared_bytes = each.shared_bytes;
    request.stream = each.stream;
    request.cooperative = cooperative;
    const StreamId stream = state->stream_id(request.stream, request.default_stream);
    const Decision decision = state->core->on_launch(read_facts(*state, request, stream, now_ns()));
    state->overhead.count(decision.in_window);
    tickets[static_cast<std::size_t>(i)] = decision.ticket;
    if (decision.time_it) { state->core->on_timing_lost(decision.ticket); }
  }
  const int result = call(launches, count, flags);
  for (int i = 0; i < count; ++i) {
    const Ticket ticket = tickets[static_cast<std::size_t>(i)];
    if (ticket != 0) {
      state->core->on_launched(ticket, result == hip::kSuccess ? LaunchOutcome::plain_ok : LaunchOutcome::failed);
    }
  }
  return result;
}

}  // namespace elbowroom::interposer::hip
