#include "backend_cuda/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "backend/watchdog.hpp"

namespace headroom::cuda {
namespace {

// Iterations enqueued while the start line still holds: far below the depth at which a launch blocks the host.
constexpr int kQueuedAhead = 32;

class Enqueuer {
 public:
  Enqueuer(const Scenario& scenario, const OverlapPlan& plan, const Operations& operations, const std::vector<DeviceLanes>& lanes)
      : scenario_(scenario), plan_(plan), operations_(operations), lanes_(lanes) {
    for (const DeviceLanes& lane : lanes_) {
      compute_.push_back(lane.compute.get());
      comm_.push_back(plan.priority ? lane.urgent_comm.get() : lane.comm.get());
    }
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

  Status iteration(Order order) {
    switch (order) {
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
    return collective(comm_);
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

  Status comm_after_compute() {
    return on_each([&](std::size_t at) -> Status {
      const DeviceLanes& lane = lanes_[at];
      if (Status marked = check(cudaEventRecord(lane.compute_done.get(), compute_[at]), "cudaEventRecord"); !marked) return marked;
      return check(cudaStreamWaitEvent(comm_[at], lane.compute_done.get(), 0), "cudaStreamWaitEvent");
    });
  }

  const Scenario& scenario_;
  const OverlapPlan& plan_;
  const Operations& operations_;
  const std::vector<DeviceLanes>& lanes_;
  std::vector<cudaStream_t> compute_;
  std::vector<cudaStream_t> comm_;
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
Status enqueue_held(Enqueuer& enqueuer, Order order, int iterations, StartLine& start) {
  const int ahead = std::min(iterations, kQueuedAhead);
  Release release(start);
  if (Status held = enqueuer.hold(start); !held) return held;
  if (Status begun = enqueuer.begin(); !begun) return begun;
  for (int i = 0; i < ahead; ++i) {
    if (Status enqueued = enqueuer.iteration(order); !enqueued) return enqueued;
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
                                   {&lanes.begin, EventUse::timing},
                                   {&lanes.end, EventUse::timing}}) {
    Result<Event> made = make_event(use);
    if (!made) return made.error();
    *event = std::move(*made);
  }
  return lanes;
}

Status enqueue_one(const Scenario& scenario, Order order, const OverlapPlan& plan, const Operations& operations,
                   const std::vector<DeviceLanes>& lanes) {
  Enqueuer enqueuer(scenario, plan, operations, lanes);
  if (Status begun = enqueuer.begin(); !begun) return begun;
  if (Status enqueued = enqueuer.iteration(order); !enqueued) return enqueued;
  return enqueuer.end();
}

Status enqueue_schedule(const Scenario& scenario, Order order, const OverlapPlan& plan, const Operations& operations,
                        const std::vector<DeviceLanes>& lanes, StartLine& start) {
  Enqueuer enqueuer(scenario, plan, operations, lanes);
  if (Status ahead = enqueue_held(enqueuer, order, scenario.iterations, start); !ahead) return ahead;
  if (scenario.iterations <= kQueuedAhead) return {};
  for (int i = kQueuedAhead; i < scenario.iterations; ++i) {
    if (Status enqueued = enqueuer.iteration(order); !enqueued) return enqueued;
  }
  return enqueuer.end();
}

Status await_end(const std::vector<DeviceLanes>& lanes, const Communicators* comms, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  for (std::size_t at = 0; at < lanes.size(); ++at) {
    while (true) {
      const cudaError_t state = cudaEventQuery(lanes[at].end.get());
      if (state == cudaSuccess) break;
      if (state != cudaErrorNotReady) return check(state, "the schedule");
      if (comms != nullptr) {
        if (Status healthy = comms->asynchronous_error(); !healthy) return healthy;
      }
      if (std::chrono::steady_clock::now() > deadline) {
        return failed(fmt::format("GPU {} has not finished after the time limit of {:.3f} s; its collectives are aborted", at,
                                  static_cast<double>(limit.count()) / 1000));
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
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
