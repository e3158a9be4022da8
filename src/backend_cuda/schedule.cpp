#include "backend_cuda/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

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

  Status begin(StartLine& start) {
    return on_each([&](std::size_t at) -> Status {
      if (Status held = start.hold(compute_[at]); !held) return held;
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

}  // namespace

Result<DeviceLanes> DeviceLanes::make(int device) {
  if (Status used = use_device(device); !used) return used.error();
  int least = 0;
  int greatest = 0;
  if (Status asked = check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange"); !asked) {
    return asked.error();
  }
  DeviceLanes lanes;
  for (const auto& [stream, priority] : {std::pair{&lanes.compute, least}, {&lanes.comm, least}, {&lanes.urgent_comm, greatest}}) {
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

Status enqueue_schedule(const Scenario& scenario, Order order, const OverlapPlan& plan, const Operations& operations,
                        const std::vector<DeviceLanes>& lanes, StartLine& start) {
  Enqueuer enqueuer(scenario, plan, operations, lanes);
  // Released on every way out: a stream that is held for ever would hang the process.
  struct Release {
    StartLine& line;
    ~Release() { line.release(); }
  };
  {
    const Release at_end{start};
    if (Status begun = enqueuer.begin(start); !begun) return begun;
    for (int i = 0; i < std::min(scenario.iterations, kQueuedAhead); ++i) {
      if (Status enqueued = enqueuer.iteration(order); !enqueued) return enqueued;
    }
  }
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
        return failed(fmt::format("GPU {} has not finished after the time limit of {:.3f} s; the collectives were aborted", at,
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
