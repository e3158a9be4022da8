#include "backend_gpu/schedule_calls.hpp"

#include <chrono>
#include <utility>

namespace elbowroom::gpu {
namespace {

Status make_streams(const Runtime& runtime, Lanes& lanes) {
  const Result<int> greatest = greatest_priority(runtime);
  if (!greatest) return greatest.error();
  for (const auto& [stream, priority] :
       {std::pair{&lanes.compute, kNormalPriority}, {&lanes.comm, kNormalPriority}, {&lanes.urgent_comm, *greatest}}) {
    Result<Stream> made = make_stream(runtime, priority);
    if (!made) return made.error();
    *stream = std::move(*made);
  }
  return {};
}

}  // namespace

Result<Lanes> make_lanes(const Runtime& runtime, int device) {
  if (Status used = runtime.use_device(device); !used) return used.error();
  Lanes lanes;
  if (Status made = make_streams(runtime, lanes); !made) return made.error();
  for (const auto& [event, use] : {std::pair{&lanes.compute_done, EventUse::ordering},
                                   {&lanes.comm_done, EventUse::ordering},
                                   {&lanes.comm_begun, EventUse::ordering},
                                   {&lanes.compute_batch[0], EventUse::ordering},
                                   {&lanes.compute_batch[1], EventUse::ordering},
                                   {&lanes.comm_batch[0], EventUse::ordering},
                                   {&lanes.comm_batch[1], EventUse::ordering},
                                   {&lanes.begin, EventUse::timing},
                                   {&lanes.end, EventUse::timing}}) {
    Result<Event> made = make_event(runtime, use);
    if (!made) return made.error();
    *event = std::move(*made);
  }
  return lanes;
}

ScheduleCalls::ScheduleCalls(const Parts& parts, const std::vector<Lanes>& lanes) : parts_(parts) {
  for (const Lanes& lane : lanes) comm_begun_.push_back(lane.comm_begun.get());
}

Status ScheduleCalls::record(const Event& event, Stream stream) const {
  return runtime().call(runtime().calls.event_record, event.get(), stream);
}

Status ScheduleCalls::wait(Stream stream, const Event& event) const {
  return runtime().call(runtime().calls.stream_wait_event, stream, event.get(), 0);
}

Status ScheduleCalls::compute(std::size_t device, Stream stream, const OverlapPlan& plan) const {
  return parts_.compute.launch(static_cast<int>(device), stream, plan);
}

Status ScheduleCalls::collective(elbowroom::detail::Place place, const std::vector<Stream>& streams) const {
  const bool in_window = place == elbowroom::detail::Place::in_window;
  return parts_.collective.enqueue(in_window ? parts_.in_windows : parts_.outside, streams);
}

Status ScheduleCalls::gated_collective(const std::vector<Stream>& streams, const std::vector<Stream>& gated) const {
  const CommRoute& route = parts_.in_windows;
  // A gather that the library makes a kernel of all the same must not record the events again: the gate would wait for it.
  const Status begun =
      parts_.platform.launch_observed(streams, comm_begun_, [&] { return parts_.collective.enqueue_begin(route, streams); });
  if (!begun) return begun;
  if (Status enqueued = parts_.collective.enqueue_rest(route, streams); !enqueued) return enqueued;
  for (std::size_t at = 0; at < gated.size(); ++at) {
    if (Status used = use(at); !used) return used;
    const Status waits = runtime().call(runtime().calls.stream_wait_event, gated[at], comm_begun_[at], 0);
    if (!waits) return waits;
  }
  return {};
}

Result<bool> ScheduleCalls::passed(const Event& event) const {
  const int state = runtime().calls.event_query.function(event.get());
  if (state == kSuccess) return true;
  if (state == kErrorNotReady) return false;
  return runtime().check(state, "the schedule").error();
}

Result<Microseconds> ScheduleCalls::between(const Event& begin, const Event& end) const {
  float milliseconds = 0;
  const Status read = runtime().call(runtime().calls.event_elapsed_time, &milliseconds, begin.get(), end.get());
  if (!read) return read.error();
  return Microseconds(std::chrono::duration<double, std::milli>(milliseconds));
}

Status ScheduleCalls::healthy() const {
  if (Status healthy = asynchronous_error(parts_.in_windows); !healthy) return healthy;
  return asynchronous_error(parts_.outside);
}

}  // namespace elbowroom::gpu
