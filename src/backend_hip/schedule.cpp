#include "backend_hip/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "backend/watchdog.hpp"

namespace headroom::hip {
namespace {

// Iterations enqueued while the start line still holds, and between two looks at the devices: two windows are far below the depth
// at which a launch blocks the host.
constexpr int kWindow = 32;

class Enqueuer {
 public:
  explicit Enqueuer(const Schedule& schedule)
      : hip_(*schedule.operations.hip),
        call_(hip_.functions),
        scenario_(schedule.scenario),
        order_(schedule.order),
        plan_(schedule.plan),
        operations_(schedule.operations),
        lanes_(schedule.lanes),
        compute_(schedule.streams.compute),
        comm_(schedule.streams.comm) {}

  Status hold(StartLine& start) {
    return on_each([&](std::size_t at) { return start.hold(static_cast<int>(at), compute_[at]); });
  }

  Status begin() {
    return on_each([&](std::size_t at) -> Status {
      if (Status marked = record(lanes_[at].begin, compute_[at]); !marked) return marked;
      return wait(comm_[at], lanes_[at].begin);
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
    return collective(comm_);
  }

  /// Marks that everything of window `index` is enqueued.
  Status mark_window(std::size_t index) {
    return on_each([&](std::size_t at) -> Status {
      const DeviceLanes& lane = lanes_[at];
      if (Status marked = record(lane.compute_window[index % 2], compute_[at]); !marked) return marked;
      return record(lane.comm_window[index % 2], comm_[at]);
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
      if (Status marked = record(lane.comm_done, comm_[at]); !marked) return marked;
      if (Status joined = wait(compute_[at], lane.comm_done); !joined) return joined;
      return record(lane.end, compute_[at]);
    });
  }

 private:
  template <class Body>
  Status on_each(Body body) {
    for (std::size_t at = 0; at < lanes_.size(); ++at) {
      if (Status used = hip_.use_device(static_cast<int>(at)); !used) return used;
      if (Status done = body(at); !done) return done;
    }
    return {};
  }

  Status record(const Event& event, HipStream stream) {
    return hip_.check(call_.event_record(event.get(), stream), "hipEventRecord");
  }

  Status wait(HipStream stream, const Event& event) {
    return hip_.check(call_.stream_wait_event(stream, event.get(), 0), "hipStreamWaitEvent");
  }

  Status compute() {
    return on_each([&](std::size_t at) { return operations_.compute->launch(static_cast<int>(at), compute_[at], plan_); });
  }

  Status collective(const std::vector<HipStream>& streams) {
    return operations_.collective->enqueue(*operations_.rccl, *operations_.comms, streams);
  }

  Status comm_after_compute() {
    return on_each([&](std::size_t at) -> Status {
      if (Status marked = record(lanes_[at].compute_done, compute_[at]); !marked) return marked;
      return wait(comm_[at], lanes_[at].compute_done);
    });
  }

  const HipLibrary& hip_;
  const HipLibrary::Functions& call_;
  const Scenario& scenario_;
  Order order_;
  const OverlapPlan& plan_;
  const Operations& operations_;
  const std::vector<DeviceLanes>& lanes_;
  const std::vector<HipStream>& compute_;
  const std::vector<HipStream>& comm_;
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

Status make_streams(const HipLibrary& hip, DeviceLanes& lanes) {
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

Result<DeviceLanes> DeviceLanes::make(const HipLibrary& hip, int device) {
  if (Status used = hip.use_device(device); !used) return used.error();
  DeviceLanes lanes;
  if (Status made = make_streams(hip, lanes); !made) return made.error();
  for (const auto& [event, use] : {std::pair{&lanes.compute_done, EventUse::ordering},
                                   {&lanes.comm_done, EventUse::ordering},
                                   {&lanes.compute_window[0], EventUse::ordering},
                                   {&lanes.compute_window[1], EventUse::ordering},
                                   {&lanes.comm_window[0], EventUse::ordering},
                                   {&lanes.comm_window[1], EventUse::ordering},
                                   {&lanes.begin, EventUse::timing},
                                   {&lanes.end, EventUse::timing}}) {
    Result<Event> made = make_event(hip, use);
    if (!made) return made.error();
    *event = std::move(*made);
  }
  return lanes;
}

Status Deadline::await(HipEvent event, std::size_t device) const {
  while (true) {
    const int state = hip_.functions.event_query(event);
    if (state == kHipSuccess) return {};
    if (state != kHipErrorNotReady) return hip_.check(state, "the schedule");
    if (Status healthy = comms_.asynchronous_error(); !healthy) return healthy;
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

Result<Microseconds> slowest(const HipLibrary& hip, const std::vector<DeviceLanes>& lanes) {
  Microseconds longest{0};
  for (const DeviceLanes& lane : lanes) {
    float milliseconds = 0;
    if (Status read =
            hip.check(hip.functions.event_elapsed_time(&milliseconds, lane.begin.get(), lane.end.get()), "hipEventElapsedTime");
        !read) {
      return read.error();
    }
    longest = std::max(longest, Microseconds(std::chrono::duration<double, std::milli>(milliseconds)));
  }
  return longest;
}

}  // namespace headroom::hip
