#include "interposer/hip/launch.hpp"

#include "interposer/core/unusual.hpp"
#include "interposer/driver/launch.hpp"
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

LaunchFacts read_facts(const LaunchRequest& request, StreamId stream, std::uint64_t now) {
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
  return facts;
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
    result = clock.time([&] { return original(changed); });
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
  const Carrier carrier = state.driver.carriers.of(state.stream_id(request.stream, request.default_stream),
                                                   explicit_stream<Driver>(request.stream, request.default_stream), device);
  if (carrier.stream == nullptr) { return launch_plainly(request, original, LaunchOutcome::plain_ok, clock); }
  return launch_carried(state, request, original, carrier, clock);
}

int carry_out(Interposer& state, const LaunchRequest& request, OriginalLaunch original, const Decision& decision,
              DriverClock& clock) {
  const hip::Stream stream = explicit_stream<Driver>(request.stream, request.default_stream);
  const bool changed = !decision.untouched(static_cast<std::uint32_t>(request.shared_bytes));
  // A capture may have begun by an entry point that is not hooked. It would take in our events, and a carrier with them.
  if (changed && state.driver.is_captured(stream)) {
    state.core->on_launched(decision.ticket, LaunchOutcome::failed);
    return launch_plainly(request, original, LaunchOutcome::ok, clock).result;
  }
  const int device = state.driver.place_of(stream);
  if (decision.step != 0) { state.timer.begin_step(device, stream, decision.step); }
  const Launched launched = launch_controlled(state, request, original, decision, device, clock);
  driver::end_launch(state, decision.ticket, decision.context, stream, launched.outcome, changed);
  return launched.result;
}

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
  if (state == nullptr) { return original(request); }
  const bool cooperative = request.cooperative || says(request, hip::kLaunchCooperative);
  const bool records = request.start != nullptr || request.stop != nullptr;  // events of the program's own
  const std::uint64_t blocks = std::uint64_t{request.grid.x} * request.grid.y * request.grid.z;
  const bool plain = !cooperative && !records;
  if (plain && driver::fast_path.take(id_of_function(request), blocks)) { return original(request); }
  const StreamId id = state->stream_id(request.stream, request.default_stream);
  if (plain && driver::fast_path.take_settled(id_of_function(request), id)) { return original(request); }
  const hip::Stream stream = explicit_stream<Driver>(request.stream, request.default_stream);
  if (state->core->capturing() && state->driver.is_captured(stream)) { return original(request); }
  driver::LaunchAccount account(state->overhead);
  const std::uint64_t begin = account.begin();
  state->timer.poll(begin);  // before the program's own call, whose result hipGetLastError must tell
  if (records) { state->core->forget_events(); }
  const Decision decision = state->core->on_launch(read_facts(request, id, begin));
  state->overhead.count(decision.in_window);
  const int result = decision.ticket == 0 && decision.untouched(static_cast<std::uint32_t>(request.shared_bytes))
                         ? launch_plainly(request, original, LaunchOutcome::ok, account.clock).result
                         : carry_out(*state, request, original, decision, account.clock);
  if (records) { state->core->forget_events(); }
  account.end(decision.in_window);
  return result;
}

int launch_several(const hip::LaunchParams* launches, int count, int (*call)(const hip::LaunchParams*, int, unsigned),
                   unsigned flags) {
  const InsideLaunch scope;
  if (scope.entered() && count > 1) { stand_aside(Unusual::multi_device_launch); }
  return call(launches, count, flags);
}

}  // namespace elbowroom::interposer::hip
