#include "backend_gpu/schedule_calls.hpp"

#include <chrono>
#include <utility>

#include "backend/schedule.hpp"

namespace elbowroom::gpu {
namespace {

using elbowroom::detail::EventNumbers;

Status add_events(const Runtime& runtime, int device, EventUse use, std::size_t count, DeviceEvents& events) {
  if (events.size() >= count) { return {}; }
  if (Status used = runtime.use_device(device); !used) { return used; }
  while (events.size() < count) {
    Result<Event> made = make_event(runtime, use);
    if (!made) { return made.error(); }
    events.push_back(std::move(*made));
  }
  return {};
}

}  // namespace

Result<DeviceEvents> make_timed_events(const Runtime& runtime, int device) {
  DeviceEvents events;
  if (Status made = add_events(runtime, device, EventUse::timing, EventNumbers::kTimed, events); !made) { return made.error(); }
  return events;
}

Status add_ordering_events(const Runtime& runtime, int device, std::size_t count, DeviceEvents& events) {
  return add_events(runtime, device, EventUse::ordering, count, events);
}

Status ScheduleCalls::meet() const {
  if (parts_.meeting == nullptr) { return {}; }
  std::vector<StreamHandle> first;
  std::vector<EventHandle> events;
  first.reserve(devices());
  events.reserve(devices());
  for (std::size_t device = 0; device < devices(); ++device) {
    first.push_back(stream(device, 0));
    events.push_back(event(device, EventNumbers::kBegin));
  }
  return parts_.meeting->enqueue(first, events);
}

Status ScheduleCalls::record(std::size_t device, int lane, int number) const {
  return runtime().call(runtime().calls.event_record, event(device, number), stream(device, lane));
}

Status ScheduleCalls::wait(std::size_t device, int lane, int number) const {
  return runtime().call(runtime().calls.stream_wait_event, stream(device, lane), event(device, number), 0);
}

Status ScheduleCalls::compute(std::size_t device, const Launch& launch) const {
  ComputeKernel& kernel = *parts_.computations[static_cast<std::size_t>(launch.operation)];
  return kernel.launch(number(device), stream(device, launch.lane), std::get<ComputeSettings>(launch.settings));
}

std::vector<StreamHandle> ScheduleCalls::streams_of(const GroupUse& group, int lane) const {
  std::vector<StreamHandle> streams;
  for (const Group::Member& member : group.buffers->group().here) { streams.push_back(stream(member.at, lane)); }
  return streams;
}

Status ScheduleCalls::communicate(const Launch& launch, std::optional<int> begun) const {
  const std::vector<GroupUse>& groups = parts_.groups.at({launch.operation, launch.lane, std::get<CommSettings>(launch.settings)});
  const auto on_each = [&](auto enqueue) -> Status {
    for (const GroupUse& group : groups) {
      const Status done = (group.buffers->*enqueue)(group.route, streams_of(group, launch.lane));
      if (!done) { return done; }
    }
    return {};
  };
  if (!begun) { return on_each(&CollectiveBuffers::enqueue); }
  std::vector<StreamHandle> streams;
  std::vector<EventHandle> events;
  for (const GroupUse& group : groups) {
    for (const Group::Member& member : group.buffers->group().here) {
      streams.push_back(stream(member.at, launch.lane));
      events.push_back(event(member.at, *begun));
    }
  }
  // A gather that the library makes a kernel of all the same must not record the events again: the gate would wait for it.
  const Status launched =
      parts_.platform.launch_observed(streams, events, [&] { return on_each(&CollectiveBuffers::enqueue_begin); });
  return launched ? on_each(&CollectiveBuffers::enqueue_rest) : launched;
}

Result<bool> ScheduleCalls::passed(std::size_t device, int number) const {
  const int state = runtime().calls.event_query.function(event(device, number));
  if (state == kSuccess) { return true; }
  if (state == kErrorNotReady) { return false; }
  return runtime().check(state, "the schedule").error();
}

Result<Microseconds> ScheduleCalls::took(std::size_t device) const {
  float milliseconds = 0;
  const Status read = runtime().call(runtime().calls.event_elapsed_time, &milliseconds, event(device, EventNumbers::kBegin),
                                     event(device, EventNumbers::kEnd));
  if (!read) { return read.error(); }
  return Microseconds(std::chrono::duration<double, std::milli>(milliseconds));
}

Status ScheduleCalls::healthy() const {
  for (const auto& [use, groups] : parts_.groups) {
    for (const GroupUse& group : groups) {
      if (Status healthy = asynchronous_error(group.route); !healthy) { return healthy; }
    }
  }
  return {};
}

}  // namespace elbowroom::gpu
