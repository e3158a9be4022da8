#include "backend_cuda/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "backend/watchdog.hpp"
#include "backend_cuda/launch_completion.hpp"

namespace headroom::cuda {
namespace {

// Iterations enqueued while the start line still holds, and between two looks at the devices: two windows are far below the depth
// at which a launch blocks the host.
constexpr int kWindow = 32;

class Enqueuer {
 public:
  explicit Enqueuer(const Schedule& schedule)
      : scenario_(schedule.scenario),
        order_(schedule.order),
        plan_(schedule.plan),
        operations_(schedule.operations),
        lanes_(schedule.lanes),
        compute_(schedule.streams.compute),
        comm_(schedule.streams.comm) {
    for (const DeviceLanes& lane : lanes_) comm_begun_.push_back(lane.comm_begun.get());
  }

  Status hold(StartLine& start) {
    return on_each([&](std::size_t at) { return start.hold(compute_[at]); });
  }

  Status begin() {
    return on_each([&](std::size_t at) -> Status {
      if (Status marked = check(cudaEventRecord(lanes_[at].begin.get(), compute_[at]), "cudaEventRecord"); !marked) return marked;
      return check(cudaStreamWaitEvent(comm_[at], lanes_[at].begin.get(), 0), "cudaStreamWaitEvent");
    });
  }

  Status iteration() {
    switch (order_) {
      case Order::compute_only:
        return compute();
      case Order::comm_only:
        return collective(comm_);
      case Order::sequential:
        if (Status launched = compute(); !launched) return launched;
        return collective(compute_);
      case Order::concurrent:
        break;
    }
    if (Status launched = compute(); !launched) return launched;
    if (scenario_.pattern == Pattern::pipeline) {
      if (Status ordered = comm_after_compute(); !ordered) return ordered;
    }
    return plan_.launch_gate ? gated_collective() : collective(comm_);
  }

  /// Marks that everything of window `index` is enqueued.
  Status mark_window(std::size_t index) {
    return on_each([&](std::size_t at) -> Status {
      const DeviceLanes& lane = lanes_[at];
      if (Status marked = check(cudaEventRecord(lane.compute_window[index % 2].get(), compute_[at]), "cudaEventRecord"); !marked) {
        return marked;
      }
      return check(cudaEventRecord(lane.comm_window[index % 2].get(), comm_[at]), "cudaEventRecord");
    });
  }

  Status await_window(std::size_t index, const Deadline& deadline) {
    return on_each([&](std::size_t at) -> Status {
      if (Status passed = deadline.await(lanes_[at].compute_window[index % 2].get(), at); !passed) return passed;
      return deadline.await(lanes_[at].comm_window[index % 2].get(), at);
    });
  }

  Status end() {
    return on_each([&](std::size_t at) -> Status {
      const DeviceLanes& lane = lanes_[at];
      if (Status marked = check(cudaEventRecord(lane.comm_done.get(), comm_[at]), "cudaEventRecord"); !marked) return marked;
      if (Status joined = check(cudaStreamWaitEvent(compute_[at], lane.comm_done.get(), 0), "cudaStreamWaitEvent"); !joined) {
        return joined;
      }
      return check(cudaEventRecord(lane.end.get(), compute_[at]), "cudaEventRecord");
    });
  }

 private:
  template <class Body>
  Status on_each(Body body) {
    for (std::size_t at = 0; at < lanes_.size(); ++at) {
      if (Status used = use_device(static_cast<int>(at)); !used) return used;
      if (Status done = body(at); !done) return done;
    }
    return {};
  }

  Status compute() {
    return on_each([&](std::size_t at) { return operations_.compute->launch(static_cast<int>(at), compute_[at], plan_); });
  }

  Status collective(const std::vector<cudaStream_t>& streams) {
    return operations_.collective->enqueue(*operations_.nccl, *operations_.comms, streams);
  }

  /// What is computed next waits until the collective is on the device, however many blocks the compute has.
  Status gated_collective() {
    LaunchCompletion begun(comm_, comm_begun_);
    if (Status enqueued = collective(comm_); !enqueued) return enqueued;
    if (Status seen = begun.every_stream_launched(); !seen) return seen;
    return on_each([&](std::size_t at) {
      return check(cudaStreamWaitEvent(compute_[at], comm_begun_[at], 0), "cudaStreamWaitEvent (launch gate)");
    });
  }

  Status comm_after_compute() {
    return on_each([&](std::size_t at) -> Status {
      const DeviceLanes& lane = lanes_[at];
      if (Status marked = check(cudaEventRecord(lane.compute_done.get(), compute_[at]), "cudaEventRecord"); !marked) return marked;
      return check(cudaStreamWaitEvent(comm_[at], lane.compute_done.get(), 0), "cudaStreamWaitEvent");
    });
  }

  const Scenario& scenario_;
  Order order_;
  const OverlapPlan& plan_;
  const Operations& operations_;
  const std::vector<DeviceLanes>& lanes_;
  const std::vector<cudaStream_t>& compute_;
  const std::vector<cudaStream_t>& comm_;
  std::vector<cudaEvent_t> comm_begun_;
};

/// Releases the start line on every way out, and by itself when that takes too long: a call that waits for a held stream would
/// never return otherwise.
class Release {
 public:
  explicit Release(StartLine& line) : line_(line), watchdog_(kPatience, [&line] { line.release(); }) {}
  ~Release() { static_cast<void>(now()); }
  Release(const Release&) = delete;
  Release& operator=(const Release&) = delete;

  /// Releases; false when the watchdog had to.
  bool now() {
    const bool in_time = watchdog_.stop();
    if (in_time && !std::exchange(released_, true)) line_.release();
    return in_time;
  }

 private:
  // Far beyond the milliseconds that enqueueing takes.
  static constexpr std::chrono::seconds kPatience{10};

  StartLine& line_;
  bool released_ = false;
  headroom::detail::Watchdog watchdog_;
};

/// A schedule that fits is enqueued to its end before anything may start: its time then holds no host time at all.
Status enqueue_held(Enqueuer& enqueuer, int iterations, StartLine& start) {
  const int ahead = std::min(iterations, kWindow);
  Release release(start);
  if (Status held = enqueuer.hold(start); !held) return held;
  if (Status begun = enqueuer.begin(); !begun) return begun;
  for (int i = 0; i < ahead; ++i) {
    if (Status enqueued = enqueuer.iteration(); !enqueued) return enqueued;
  }
  if (ahead == iterations) {
    if (Status ended = enqueuer.end(); !ended) return ended;
  }
  return release.now() ? Status() : failed("a launch blocked the host while the streams were held; the run was not timed");
}

}  // namespace

Result<DeviceLanes> DeviceLanes::make(int device) {
  if (Status used = use_device(device); !used) return used.error();
  const Result<PriorityRange> priorities = priority_range();
  if (!priorities) return priorities.error();
  DeviceLanes lanes;
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
                                   {&lanes.compute_window[0], EventUse::ordering},
                                   {&lanes.compute_window[1], EventUse::ordering},
                                   {&lanes.comm_window[0], EventUse::ordering},
                                   {&lanes.comm_window[1], EventUse::ordering},
                                   {&lanes.begin, EventUse::timing},
                                   {&lanes.end, EventUse::timing}}) {
    Result<Event> made = make_event(use);
    if (!made) return made.error();
    *event = std::move(*made);
  }
  return lanes;
}

Status Deadline::await(cudaEvent_t event, std::size_t device) const {
  while (true) {
    const cudaError_t state = cudaEventQuery(event);
    if (state == cudaSuccess) return {};
    if (state != cudaErrorNotReady) return check(state, "the schedule");
    if (comms_ != nullptr) {
      if (Status healthy = comms_->asynchronous_error(); !healthy) return healthy;
    }
    if (std::chrono::steady_clock::now() > until_) {
      return failed(fmt::format("GPU {} has not finished after the time limit of {:.3f} s; its collectives are aborted", device,
                                static_cast<double>(limit_.count()) / 1000));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

Status enqueue_one(const Schedule& schedule) {
  Enqueuer enqueuer(schedule);
  if (Status begun = enqueuer.begin(); !begun) return begun;
  if (Status enqueued = enqueuer.iteration(); !enqueued) return enqueued;
  return enqueuer.end();
}

Status enqueue_schedule(const Schedule& schedule, StartLine& start, const Deadline& deadline) {
  const int iterations = schedule.scenario.iterations;
  Enqueuer enqueuer(schedule);
  if (Status ahead = enqueue_held(enqueuer, iterations, start); !ahead) return ahead;
  if (iterations <= kWindow) return {};
  for (int i = kWindow; i < iterations; ++i) {
    if (i % kWindow == 0) {
      const auto window = static_cast<std::size_t>(i / kWindow - 1);
      if (Status marked = enqueuer.mark_window(window); !marked) return marked;
      if (window > 0) {
        if (Status passed = enqueuer.await_window(window - 1, deadline); !passed) return passed;
      }
    }
    if (Status enqueued = enqueuer.iteration(); !enqueued) return enqueued;
  }
  return enqueuer.end();
}

Status await_end(const std::vector<DeviceLanes>& lanes, const Deadline& deadline) {
  for (std::size_t at = 0; at < lanes.size(); ++at) {
    if (Status passed = deadline.await(lanes[at].end.get(), at); !passed) return passed;
  }
  return {};
}

Result<Microseconds> slowest(const std::vector<DeviceLanes>& lanes) {
  Microseconds longest{0};
  for (const DeviceLanes& lane : lanes) {
    float milliseconds = 0;
    if (Status read = check(cudaEventElapsedTime(&milliseconds, lane.begin.get(), lane.end.get()), "cudaEventElapsedTime"); !read) {
      return read.error();
    }
    longest = std::max(longest, Microseconds(std::chrono::duration<double, std::milli>(milliseconds)));
  }
  return longest;
}

}  // namespace headroom::cuda
