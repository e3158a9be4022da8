#include "backend_cuda/schedule_calls.hpp"

#include <chrono>
#include <utility>

#include "backend_cuda/launch_completion.hpp"

namespace elbowroom::cuda {

Result<Lanes> make_lanes(int device) {
  if (Status used = use_device(device); !used) return used.error();
  const Result<PriorityRange> priorities = priority_range();
  if (!priorities) return priorities.error();
  Lanes lanes;
  for (const auto& [stream, priority] : {std::pair{&lanes.compute, priorities->least},
                                         {&lanes.comm, priorities->least},
                                         {&lanes.urgent_comm, priorities->greatest}}) {
    Result<Stream> made = make_stream(priority);
    if (!made) return made.error();
    *stream = std::move(*made);
  }
  for (const auto& [event, use] : {std::pair{&lanes.compute_done, EventUse::ordering},
                                   {&lanes.comm_done, EventUse::ordering},
                                   {&lanes.comm_begun, EventUse::ordering},
                                   {&lanes.compute_batch[0], EventUse::ordering},
                                   {&lanes.compute_batch[1], EventUse::ordering},
                                   {&lanes.comm_batch[0], EventUse::ordering},
                                   {&lanes.comm_batch[1], EventUse::ordering},
                                   {&lanes.begin, EventUse::timing},
                                   {&lanes.end, EventUse::timing}}) {
    Result<Event> made = make_event(use);
    if (!made) return made.error();
    *event = std::move(*made);
  }
  return lanes;
}

ScheduleCalls::ScheduleCalls(const Parts& parts, const std::vector<Lanes>& lanes) : parts_(parts) {
  for (const Lanes& lane : lanes) comm_begun_.push_back(lane.comm_begun.get());
}

Status ScheduleCalls::record(const Event& event, cudaStream_t stream) const {
  return check(cudaEventRecord(event.get(), stream), "cudaEventRecord");
}

Status ScheduleCalls::wait(cudaStream_t stream, const Event& event) const {
  return check(cudaStreamWaitEvent(stream, event.get(), 0), "cudaStreamWaitEvent");
}

Status ScheduleCalls::compute(std::size_t device, cudaStream_t stream, const OverlapPlan& plan) const {
  return parts_.compute.launch(static_cast<int>(device), stream, plan);
}

Status ScheduleCalls::collective(elbowroom::detail::Place place, const std::vector<cudaStream_t>& streams) const {
  const bool in_window = place == elbowroom::detail::Place::in_window;
  return parts_.collective.enqueue(parts_.nccl, in_window ? parts_.in_windows : parts_.outside, streams);
}

Status ScheduleCalls::gated_collective(const std::vector<cudaStream_t>& streams, const std::vector<cudaStream_t>& gated) const {
  {
    // A gather that the library makes a kernel of all the same must not record the events again: the gate would wait for it.
    LaunchCompletion begun(streams, comm_begun_);
    if (Status enqueued = parts_.collective.enqueue_begin(parts_.nccl, parts_.in_windows, streams); !enqueued) return enqueued;
    if (Status seen = begun.every_stream_launched(); !seen) return seen;
  }
  if (Status enqueued = parts_.collective.enqueue_rest(parts_.nccl, parts_.in_windows, streams); !enqueued) return enqueued;
  for (std::size_t at = 0; at < gated.size(); ++at) {
    if (Status used = use(at); !used) return used;
    if (Status waits = check(cudaStreamWaitEvent(gated[at], comm_begun_[at], 0), "cudaStreamWaitEvent (launch gate)"); !waits) {
      return waits;
    }
  }
  return {};
}

Result<bool> ScheduleCalls::passed(const Event& event) const {
  const cudaError_t state = cudaEventQuery(event.get());
  if (state == cudaSuccess) return true;
  if (state == cudaErrorNotReady) return false;
  return check(state, "the schedule").error();
}

Result<Microseconds> ScheduleCalls::between(const Event& begin, const Event& end) const {
  float milliseconds = 0;
  if (Status read = check(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "cudaEventElapsedTime"); !read) {
    return read.error();
  }
  return Microseconds(std::chrono::duration<double, std::milli>(milliseconds));
}

Status ScheduleCalls::healthy() const {
  if (Status healthy = asynchronous_error(parts_.in_windows); !healthy) return healthy;
  return asynchronous_error(parts_.outside);
}

}  // namespace elbowroom::cuda
