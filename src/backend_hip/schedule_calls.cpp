#include "backend_hip/schedule_calls.hpp"

#include <chrono>
#include <string>
#include <utility>

#include "elbowroom/plan/controls.hpp"

namespace elbowroom::hip {
namespace {

Status make_streams(const HipLibrary& hip, Lanes& lanes) {
  const Result<int> greatest = greatest_priority(hip);
  if (!greatest) return greatest.error();
  for (const auto& [stream, priority] :
       {std::pair{&lanes.compute, kNormalPriority}, {&lanes.comm, kNormalPriority}, {&lanes.urgent_comm, *greatest}}) {
    Result<Stream> made = make_stream(hip, priority);
    if (!made) return made.error();
    *stream = std::move(*made);
  }
  return {};
}

}  // namespace

Result<Lanes> make_lanes(const HipLibrary& hip, int device) {
  if (Status used = hip.use_device(device); !used) return used.error();
  Lanes lanes;
  if (Status made = make_streams(hip, lanes); !made) return made.error();
  for (const auto& [event, use] : {std::pair{&lanes.compute_done, EventUse::ordering},
                                   {&lanes.comm_done, EventUse::ordering},
                                   {&lanes.compute_batch[0], EventUse::ordering},
                                   {&lanes.compute_batch[1], EventUse::ordering},
                                   {&lanes.comm_batch[0], EventUse::ordering},
                                   {&lanes.comm_batch[1], EventUse::ordering},
                                   {&lanes.begin, EventUse::timing},
                                   {&lanes.end, EventUse::timing}}) {
    Result<Event> made = make_event(hip, use);
    if (!made) return made.error();
    *event = std::move(*made);
  }
  return lanes;
}

Status ScheduleCalls::record(const Event& event, HipStream stream) const {
  return parts_.hip.check(parts_.hip.functions.event_record(event.get(), stream), "hipEventRecord");
}

Status ScheduleCalls::wait(HipStream stream, const Event& event) const {
  return parts_.hip.check(parts_.hip.functions.stream_wait_event(stream, event.get(), 0), "hipStreamWaitEvent");
}

Status ScheduleCalls::compute(std::size_t device, HipStream stream, const OverlapPlan& plan) const {
  return parts_.compute.launch(static_cast<int>(device), stream, plan);
}

Status ScheduleCalls::collective(elbowroom::detail::Place place, const std::vector<HipStream>& streams) const {
  const bool in_window = place == elbowroom::detail::Place::in_window;
  return parts_.collective.enqueue(parts_.rccl, in_window ? parts_.in_windows : parts_.outside, streams);
}

Status ScheduleCalls::gated_collective(const std::vector<HipStream>&, const std::vector<HipStream>&) const {
  return no_launch_gate();
}

Status no_launch_gate() { return invalid_input("launch_gate: " + std::string(kNoGateUnderHip)); }

Result<bool> ScheduleCalls::passed(const Event& event) const {
  const int state = parts_.hip.functions.event_query(event.get());
  if (state == kHipSuccess) return true;
  if (state == kHipErrorNotReady) return false;
  return parts_.hip.check(state, "the schedule").error();
}

Result<Microseconds> ScheduleCalls::between(const Event& begin, const Event& end) const {
  float milliseconds = 0;
  if (Status read =
          parts_.hip.check(parts_.hip.functions.event_elapsed_time(&milliseconds, begin.get(), end.get()), "hipEventElapsedTime");
      !read) {
    return read.error();
  }
  return Microseconds(std::chrono::duration<double, std::milli>(milliseconds));
}

Status ScheduleCalls::healthy() const {
  if (Status healthy = parts_.in_windows.asynchronous_error(); !healthy) return healthy;
  return parts_.outside.asynchronous_error();
}

}  // namespace elbowroom::hip
