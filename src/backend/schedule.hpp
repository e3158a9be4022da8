#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

#include "backend/watchdog.hpp"
#include "elbowroom/backend/backend.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/base/time.hpp"
#include "elbowroom/model/scenario.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "elbowroom/plan/overlap_windows.hpp"

/// The order in which a scenario is enqueued on GPUs, the same for every vendor. `Calls` is what a leaf lends it:
///
///   Stream, Lanes (a DeviceLanes), StartLine         types
///   Status use(device)                               makes the device current
///   Status hold(StartLine&, device, Stream)          everything enqueued on it from here on waits for StartLine::release()
///   Status record(event, Stream)
///   Status wait(Stream, event)
///   Status compute(device, Stream, plan)             launches the kernel under the plan
///   Status collective(Place, streams)                enqueues it on one stream of each device
///   Status gated_collective(streams, gated)          the same in a window, and lets one stream of each device wait until all its
///                                                    blocks have begun
///   Result<bool> passed(event)                       without waiting
///   Result<Microseconds> between(event, event)
///   Status healthy()                                 of the communicators
///
/// Launches concern the current device; nothing waits on the host.
namespace elbowroom::detail {

/// The streams and events of one device. Compute and plain communication have the default priority, urgent communication the
/// device's greatest.
template <class Stream, class Event>
struct DeviceLanes {
  Stream compute;
  Stream comm;
  Stream urgent_comm;
  Event compute_done;  ///< orders what follows behind the latest compute kernel
  Event comm_done;     ///< joins the communication stream at the end
  Event begin;         ///< timed
  Event end;           ///< timed
  /// What the host waits for before it enqueues further, for the two latest batches of iterations.
  std::array<Event, 2> compute_batch;
  std::array<Event, 2> comm_batch;
};

/// The streams that a run takes on each device.
template <class Stream>
struct LaneStreams {
  std::vector<Stream> compute;
  std::vector<Stream> compute_outside;  ///< of compute kernels outside of windows; empty: the same
  std::vector<Stream> comm;
};

enum class Place { in_window, outside };

/// One run; everything it refers to outlives it.
template <class Calls>
struct Schedule {
  const Scenario& scenario;
  Order order;
  const OverlapPlan& plan;
  Calls calls;
  const std::vector<typename Calls::Lanes>& lanes;
  LaneStreams<typename Calls::Stream> streams;
};

/// How long a schedule may take, from when it is begun to be enqueued.
class Deadline {
 public:
  explicit Deadline(std::chrono::milliseconds limit) : limit_(limit), until_(std::chrono::steady_clock::now() + limit) {}

  /// Polls until the device has passed `event`. `failed` after the limit, or when the library reports an error; the schedule must
  /// then be given up.
  template <class Calls, class Event>
  Status await(Calls& calls, const Event& event, std::size_t device) const {
    while (true) {
      const Result<bool> passed = calls.passed(event);
      if (!passed) return passed.error();
      if (*passed) return {};
      if (Status healthy = calls.healthy(); !healthy) return healthy;
      if (std::chrono::steady_clock::now() > until_) {
        return failed(fmt::format("GPU {} has not finished after the time limit of {:.3f} s; its collectives are aborted", device,
                                  static_cast<double>(limit_.count()) / 1000));
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

 private:
  std::chrono::milliseconds limit_;
  std::chrono::steady_clock::time_point until_;
};

template <class Calls>
class Enqueuer {
  using Lanes = typename Calls::Lanes;
  using Streams = std::vector<typename Calls::Stream>;

 public:
  explicit Enqueuer(Schedule<Calls>& schedule)
      : scenario_(schedule.scenario),
        order_(schedule.order),
        plan_(schedule.plan),
        outside_(outside_windows(schedule.plan, schedule.scenario.collective)),
        calls_(schedule.calls),
        lanes_(schedule.lanes),
        streams_(schedule.streams),
        computing_(&compute_streams(0)) {}

  Status hold(typename Calls::StartLine& start) {
    return on_each([&](std::size_t at) { return calls_.hold(start, at, (*computing_)[at]); });
  }

  Status begin() {
    return on_each([&](std::size_t at) -> Status {
      if (Status marked = calls_.record(lanes_[at].begin, (*computing_)[at]); !marked) return marked;
      return calls_.wait(streams_.comm[at], lanes_[at].begin);
    });
  }

  Status iteration(int at) {
    switch (order_) {
      case Order::compute_only:
        return compute(at);
      case Order::comm_only:
        return calls_.collective(Place::in_window, streams_.comm);
      case Order::sequential:
        if (Status launched = compute(at); !launched) return launched;
        return calls_.collective(Place::in_window, *computing_);
      case Order::concurrent:
        break;
    }
    if (Status launched = compute(at); !launched) return launched;
    if (scenario_.pattern == Pattern::pipeline) {
      if (Status ordered = comm_after_compute(); !ordered) return ordered;
    }
    if (!comm_in_window(scenario_.pattern, at, scenario_.iterations)) return calls_.collective(Place::outside, streams_.comm);
    return plan_.launch_gate ? calls_.gated_collective(streams_.comm, streams_.compute)
                             : calls_.collective(Place::in_window, streams_.comm);
  }

  /// Marks that everything of batch `index` is enqueued.
  Status mark_batch(std::size_t index) {
    return on_each([&](std::size_t at) -> Status {
      const Lanes& lane = lanes_[at];
      if (Status marked = calls_.record(lane.compute_batch[index % 2], (*computing_)[at]); !marked) return marked;
      return calls_.record(lane.comm_batch[index % 2], streams_.comm[at]);
    });
  }

  Status await_batch(std::size_t index, const Deadline& deadline) {
    return on_each([&](std::size_t at) -> Status {
      if (Status passed = deadline.await(calls_, lanes_[at].compute_batch[index % 2], at); !passed) return passed;
      return deadline.await(calls_, lanes_[at].comm_batch[index % 2], at);
    });
  }

  Status end() {
    return on_each([&](std::size_t at) -> Status {
      const Lanes& lane = lanes_[at];
      if (Status marked = calls_.record(lane.comm_done, streams_.comm[at]); !marked) return marked;
      if (Status joined = calls_.wait((*computing_)[at], lane.comm_done); !joined) return joined;
      return calls_.record(lane.end, (*computing_)[at]);
    });
  }

 private:
  template <class Body>
  Status on_each(Body body) {
    for (std::size_t at = 0; at < lanes_.size(); ++at) {
      if (Status used = calls_.use(at); !used) return used;
      if (Status done = body(at); !done) return done;
    }
    return {};
  }

  // Where nothing overlaps by order, a plan means all launches.
  [[nodiscard]] bool in_window(int at) const { return order_ != Order::concurrent || compute_in_window(scenario_.pattern, at); }

  [[nodiscard]] const Streams& compute_streams(int at) const {
    return in_window(at) || streams_.compute_outside.empty() ? streams_.compute : streams_.compute_outside;
  }

  Status compute(int at) {
    if (Status moved = compute_on(compute_streams(at)); !moved) return moved;
    const OverlapPlan& plan = in_window(at) ? plan_ : outside_;
    return on_each([&](std::size_t device) { return calls_.compute(device, (*computing_)[device], plan); });
  }

  /// Compute goes on on other streams, behind what was computed last.
  Status compute_on(const Streams& streams) {
    if (&streams == computing_) return {};
    computing_ = &streams;
    return on_each([&](std::size_t at) { return calls_.wait(streams[at], lanes_[at].compute_done); });
  }

  Status comm_after_compute() {
    return on_each([&](std::size_t at) -> Status {
      if (Status marked = calls_.record(lanes_[at].compute_done, (*computing_)[at]); !marked) return marked;
      return calls_.wait(streams_.comm[at], lanes_[at].compute_done);
    });
  }

  const Scenario& scenario_;
  Order order_;
  const OverlapPlan& plan_;
  OverlapPlan outside_;
  Calls& calls_;
  const std::vector<Lanes>& lanes_;
  const LaneStreams<typename Calls::Stream>& streams_;
  const Streams* computing_;  ///< those of the latest compute kernel
};

/// Releases the start line on every way out, and by itself when that takes too long: a call that waits for a held stream would
/// never return otherwise.
template <class StartLine>
class HeldStreams {
 public:
  explicit HeldStreams(StartLine& line) : line_(line), watchdog_(kPatience, [&line] { line.release(); }) {}
  ~HeldStreams() { static_cast<void>(release()); }
  HeldStreams(const HeldStreams&) = delete;
  HeldStreams& operator=(const HeldStreams&) = delete;

  /// False when the watchdog had to.
  bool release() {
    const bool in_time = watchdog_.stop();
    if (in_time && !std::exchange(released_, true)) line_.release();
    return in_time;
  }

 private:
  // Far beyond the milliseconds that enqueueing takes.
  static constexpr std::chrono::seconds kPatience{10};

  StartLine& line_;
  bool released_ = false;
  Watchdog watchdog_;
};

// Iterations enqueued while the start line still holds, and between two looks at the devices: two batches are far below the depth at
// which a launch blocks the host.
inline constexpr int kBatch = 32;

/// A schedule that fits is enqueued to its end before anything may start: its time then holds no host time at all.
template <class Calls>
Status enqueue_held(Enqueuer<Calls>& enqueuer, int iterations, typename Calls::StartLine& start) {
  const int ahead = std::min(iterations, kBatch);
  HeldStreams held(start);
  if (Status holds = enqueuer.hold(start); !holds) return holds;
  if (Status begun = enqueuer.begin(); !begun) return begun;
  for (int i = 0; i < ahead; ++i) {
    if (Status enqueued = enqueuer.iteration(i); !enqueued) return enqueued;
  }
  if (ahead == iterations) {
    if (Status ended = enqueuer.end(); !ended) return ended;
  }
  return held.release() ? Status() : failed("a launch blocked the host while the streams were held; the run was not timed");
}

/// Enqueues every kind of launch of the schedule once on every device, between each device's begin and end events, with no stream held.
/// Whatever is done for the first time (a kernel is loaded, a communicator connects) must be done this way: the driver may wait for
/// the device then, and on a held stream it would wait for ever.
template <class Calls>
Status enqueue_once(Schedule<Calls>& schedule) {
  Enqueuer enqueuer(schedule);
  if (Status begun = enqueuer.begin(); !begun) return begun;
  if (Status first = enqueuer.iteration(0); !first) return first;
  // The first iteration computes outside of windows, the last one communicates there.
  if (schedule.plan.windows_only) {
    if (Status last = enqueuer.iteration(schedule.scenario.iterations - 1); !last) return last;
  }
  return enqueuer.end();
}

/// Enqueues all iterations on every device, between each device's begin and end events. Streams are held by `start` until enough is
/// enqueued; on return everything is enqueued and released. At most two batches of iterations are ahead of the devices, so that no
/// launch ever waits for a full queue and the deadline is kept whatever hangs. `failed` when a call blocked the host while the
/// streams were held: they are then released after a few seconds, and the run's time is worth nothing.
template <class Calls>
Status enqueue_schedule(Schedule<Calls>& schedule, typename Calls::StartLine& start, const Deadline& deadline) {
  const int iterations = schedule.scenario.iterations;
  Enqueuer enqueuer(schedule);
  if (Status ahead = enqueue_held(enqueuer, iterations, start); !ahead) return ahead;
  if (iterations <= kBatch) return {};
  for (int i = kBatch; i < iterations; ++i) {
    if (i % kBatch == 0) {
      const auto batch = static_cast<std::size_t>(i / kBatch - 1);
      if (Status marked = enqueuer.mark_batch(batch); !marked) return marked;
      if (batch > 0) {
        if (Status passed = enqueuer.await_batch(batch - 1, deadline); !passed) return passed;
      }
    }
    if (Status enqueued = enqueuer.iteration(i); !enqueued) return enqueued;
  }
  return enqueuer.end();
}

/// Waits until every device has passed its end event.
template <class Calls>
Status await_end(Schedule<Calls>& schedule, const Deadline& deadline) {
  for (std::size_t at = 0; at < schedule.lanes.size(); ++at) {
    if (Status passed = deadline.await(schedule.calls, schedule.lanes[at].end, at); !passed) return passed;
  }
  return {};
}

/// The slowest device's time between begin and end; both must have passed.
template <class Calls>
Result<Microseconds> slowest(const Schedule<Calls>& schedule) {
  Microseconds longest{0};
  for (const typename Calls::Lanes& lane : schedule.lanes) {
    const Result<Microseconds> time = schedule.calls.between(lane.begin, lane.end);
    if (!time) return time.error();
    longest = std::max(longest, *time);
  }
  return longest;
}

}  // namespace elbowroom::detail
