#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "backend/event_use.hpp"
#include "backend/watchdog.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/base/time.hpp"
#include "elbowroom/plan/program.hpp"

/// How a program is enqueued on GPUs, the same for every vendor: launches in the program's order, its edges as events. `Calls` is
/// what a backend lends it, with streams by lane of the program and events by the numbers of EventNumbers, of each device:
///
///   StartLine                                   type
///   std::size_t devices()
///   int number(device)                          of the GPU, as messages name it
///   Status use(device)                          makes the device current
///   Status hold(StartLine&, device, lane)       everything enqueued on it from here on waits for StartLine::release()
///   Status meet()                               what comes on lane 0 of each device waits for the other processes of the
///                                               step, where there are any; may use the event `begin`
///   Status record(device, lane, event)
///   Status wait(device, lane, event)
///   Status compute(device, launch)              launches the operation's kernel on the launch's lane
///   Status communicate(launch, begun)           enqueues the operation on that lane of each device that has it; the
///                                               event `begun` is recorded once all its blocks have begun, none where it is
///                                               absent
///   Result<bool> passed(device, event)          without waiting
///   Result<Microseconds> took(device)           between its begin and its end
///   Status healthy()                            of the communicators
///
/// Launches concern the current device; nothing waits on the host.
///
/// Collectives never wait for each other in a circle. One thread enqueues a launch on all devices that have it before it turns to
/// the next one. The calls of all ranks of a communicator stand in one group of the library. So two collectives that share devices
/// come in one order on all of them, whatever their communicators are. On one lane they run in that order. A rank that waits for
/// its peers only ever waits for what is enqueued. Collectives of two lanes may run at the same time and need room beside each
/// other: a budget keeps it. Whatever hangs all the same ends with the time limit. Of several processes each enqueues the same
/// program, so the order is the same on all devices.
namespace elbowroom::detail {

/// Numbers of a device's events.
struct EventNumbers {
  explicit EventNumbers(const Program& program) : lanes(static_cast<int>(program.lanes.size())) {}

  static constexpr int kBegin = 0;  ///< timed
  static constexpr int kEnd = 1;    ///< timed
  static constexpr int kTimed = 2;

  /// Joins a lane at the end.
  [[nodiscard]] int joined(int lane) const { return kTimed + lane; }
  /// What the host waits for before it enqueues further, for the two latest batches.
  [[nodiscard]] int batch(std::size_t index, int lane) const { return kTimed + lanes * static_cast<int>(1 + index % 2) + lane; }
  /// Of EventUse.
  [[nodiscard]] int of_launch(int use) const { return kTimed + lanes * 3 + use; }

  int lanes;
};

/// As many events of each device does a program need.
inline int events_of(const Program& program) { return EventNumbers(program).of_launch(event_use(program).events); }

/// How long a schedule may take, from when it is begun to be enqueued.
class Deadline {
 public:
  explicit Deadline(std::chrono::milliseconds limit) : limit_(limit), until_(std::chrono::steady_clock::now() + limit) {}

  /// Polls until the device has passed the event. `failed` after the limit, or when the library reports an error; the schedule must
  /// then be given up.
  template <class Calls>
  Status await(Calls& calls, std::size_t device, int event) const {
    while (true) {
      const Result<bool> passed = calls.passed(device, event);
      if (!passed) { return passed.error(); }
      if (*passed) { return {}; }
      if (Status healthy = calls.healthy(); !healthy) { return healthy; }
      if (std::chrono::steady_clock::now() > until_) {
        return failed(fmt::format("GPU {} has not finished after the time limit of {:.3f} s; its collectives are aborted",
                                  calls.number(device), static_cast<double>(limit_.count()) / 1000));
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

 private:
  std::chrono::milliseconds limit_;
  std::chrono::steady_clock::time_point until_;
};

/// Where an operation of a step runs, of the devices that are enqueued on.
struct OperationDevices {
  bool computes = false;
  std::vector<std::size_t> devices;  ///< in ascending order

  [[nodiscard]] bool has(std::size_t device) const { return std::ranges::binary_search(devices, device); }
};

/// One run; what it refers to outlives it. `operations`: by operation of the step.
template <class Calls>
class Enqueuer {
 public:
  Enqueuer(const Program& program, const std::vector<OperationDevices>& operations, Calls& calls)
      : program_(program), operations_(operations), calls_(calls), events_(program), use_(event_use(program)) {}

  Status hold(typename Calls::StartLine& start) {
    return on_each([&](std::size_t device) { return calls_.hold(start, device, 0); });
  }

  Status begin() {
    if (Status met = calls_.meet(); !met) { return met; }
    return on_each([&](std::size_t device) -> Status {
      if (Status marked = calls_.record(device, 0, EventNumbers::kBegin); !marked) { return marked; }
      for (int lane = 1; lane < events_.lanes; ++lane) {
        if (Status waits = calls_.wait(device, lane, EventNumbers::kBegin); !waits) { return waits; }
      }
      return {};
    });
  }

  Status launch(std::size_t at) {
    const Launch& launch = program_.launches[at];
    if (!operation_of(launch).computes) { return communicate(at, launch); }
    return on_those(operation_of(launch).devices, [&](std::size_t device) -> Status {
      if (Status ordered = wait_for_others(device, launch); !ordered) { return ordered; }
      if (Status launched = calls_.compute(device, launch); !launched) { return launched; }
      return mark_end(device, at, launch);
    });
  }

  /// Marks that everything of batch `index` is enqueued.
  Status mark_batch(std::size_t index) {
    return on_each_lane([&](std::size_t device, int lane) { return calls_.record(device, lane, events_.batch(index, lane)); });
  }

  Status await_batch(std::size_t index, const Deadline& deadline) {
    return on_each_lane([&](std::size_t device, int lane) { return deadline.await(calls_, device, events_.batch(index, lane)); });
  }

  Status end() {
    return on_each([&](std::size_t device) -> Status {
      for (int lane = 1; lane < events_.lanes; ++lane) {
        if (Status marked = calls_.record(device, lane, events_.joined(lane)); !marked) { return marked; }
        if (Status joined = calls_.wait(device, 0, events_.joined(lane)); !joined) { return joined; }
      }
      return calls_.record(device, 0, EventNumbers::kEnd);
    });
  }

 private:
  template <class Body>
  Status on(std::size_t device, Body body) {
    if (Status used = calls_.use(device); !used) { return used; }
    return body(device);
  }

  template <class Body>
  Status on_each(Body body) {
    for (std::size_t device = 0; device < calls_.devices(); ++device) {
      if (Status done = on(device, body); !done) { return done; }
    }
    return {};
  }

  template <class Body>
  Status on_those(const std::vector<std::size_t>& devices, Body body) {
    for (const std::size_t device : devices) {
      if (Status done = on(device, body); !done) { return done; }
    }
    return {};
  }

  [[nodiscard]] const OperationDevices& operation_of(const Launch& launch) const {
    return operations_[static_cast<std::size_t>(launch.operation)];
  }
  /// An edge means nothing on a device that has only one of the two.
  [[nodiscard]] bool is_on(int launch, std::size_t device) const {
    return operation_of(program_.launches[static_cast<std::size_t>(launch)]).has(device);
  }

  template <class Body>
  Status on_each_lane(Body body) {
    return on_each([&](std::size_t device) -> Status {
      for (int lane = 0; lane < events_.lanes; ++lane) {
        if (Status done = body(device, lane); !done) { return done; }
      }
      return {};
    });
  }

  Status wait_for_others(std::size_t device, const Launch& launch) {
    for (const int before : launch.after) {
      if (!is_on(before, device)) { continue; }
      if (Status waits = wait(device, launch, use_.ended[static_cast<std::size_t>(before)]); !waits) { return waits; }
    }
    for (const int before : launch.after_begun) {
      if (!is_on(before, device)) { continue; }
      if (Status waits = wait(device, launch, use_.begun[static_cast<std::size_t>(before)]); !waits) { return waits; }
    }
    return {};
  }

  /// `use` is there: every launch that another waits for has its event.
  Status wait(std::size_t device, const Launch& launch, std::optional<int> use) {
    return calls_.wait(device, launch.lane, events_.of_launch(*use));
  }

  Status mark_end(std::size_t device, std::size_t at, const Launch& launch) {
    const std::optional<int> use = use_.ended[at];
    return use ? calls_.record(device, launch.lane, events_.of_launch(*use)) : Status();
  }

  Status communicate(std::size_t at, const Launch& launch) {
    const std::vector<std::size_t>& devices = operation_of(launch).devices;
    if (Status ordered = on_those(devices, [&](std::size_t device) { return wait_for_others(device, launch); }); !ordered) {
      return ordered;
    }
    const std::optional<int> begun = use_.begun[at] ? std::optional(events_.of_launch(*use_.begun[at])) : std::nullopt;
    if (Status enqueued = calls_.communicate(launch, begun); !enqueued) { return enqueued; }
    if (!use_.ended[at]) { return {}; }
    return on_those(devices, [&](std::size_t device) { return mark_end(device, at, launch); });
  }

  const Program& program_;
  const std::vector<OperationDevices>& operations_;
  Calls& calls_;
  EventNumbers events_;
  EventUse use_;
};

/// Releases the start line on every way out, and by itself when that takes too long. A call that waits for a held stream would
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
    if (in_time && !std::exchange(released_, true)) { line_.release(); }
    return in_time;
  }

 private:
  // Far beyond the milliseconds that enqueueing takes.
  static constexpr std::chrono::seconds kPatience{10};

  StartLine& line_;
  bool released_ = false;
  Watchdog watchdog_;
};

// Launches enqueued while the start line still holds, and between two looks at the devices. Two batches are far below the depth at
// which a launch blocks the host.
inline constexpr std::size_t kBatch = 64;

/// A program that fits is enqueued to its end before anything may start: its time then holds no host time at all.
template <class Calls>
Status enqueue_held(Enqueuer<Calls>& enqueuer, std::size_t launches, typename Calls::StartLine& start) {
  const std::size_t ahead = std::min(launches, kBatch);
  HeldStreams held(start);
  if (Status holds = enqueuer.hold(start); !holds) { return holds; }
  if (Status begun = enqueuer.begin(); !begun) { return begun; }
  for (std::size_t at = 0; at < ahead; ++at) {
    if (Status enqueued = enqueuer.launch(at); !enqueued) { return enqueued; }
  }
  if (ahead == launches) {
    if (Status ended = enqueuer.end(); !ended) { return ended; }
  }
  return held.release() ? Status() : failed("a launch blocked the host while the streams were held; the run was not timed");
}

/// Enqueues all launches on every device, between each device's begin and end events, with no stream held. Whatever is done for the
/// first time must be done this way: a kernel is loaded, a communicator connects. The driver may wait for the device then, and on a
/// held stream it would wait for ever.
template <class Calls>
Status enqueue_unheld(const Program& program, const std::vector<OperationDevices>& operations, Calls& calls) {
  Enqueuer<Calls> enqueuer(program, operations, calls);
  if (Status begun = enqueuer.begin(); !begun) { return begun; }
  for (std::size_t at = 0; at < program.launches.size(); ++at) {
    if (Status enqueued = enqueuer.launch(at); !enqueued) { return enqueued; }
  }
  return enqueuer.end();
}

/// Enqueues all launches on every device, between each device's begin and end events. Streams are held by `start` until enough is
/// enqueued; on return everything is enqueued and released. At most two batches are ahead of the devices. So no launch ever waits
/// for a full queue, and the deadline is kept whatever hangs. `failed` when a call blocked the host while the streams were held.
/// They are then released after a few seconds, and the run's time is worth nothing.
template <class Calls>
Status enqueue_program(const Program& program, const std::vector<OperationDevices>& operations, Calls& calls,
                       typename Calls::StartLine& start, const Deadline& deadline) {
  const std::size_t launches = program.launches.size();
  Enqueuer<Calls> enqueuer(program, operations, calls);
  if (Status ahead = enqueue_held(enqueuer, launches, start); !ahead) { return ahead; }
  if (launches <= kBatch) { return {}; }
  for (std::size_t at = kBatch; at < launches; ++at) {
    if (at % kBatch == 0) {
      const std::size_t batch = at / kBatch - 1;
      if (Status marked = enqueuer.mark_batch(batch); !marked) { return marked; }
      if (batch > 0) {
        if (Status passed = enqueuer.await_batch(batch - 1, deadline); !passed) { return passed; }
      }
    }
    if (Status enqueued = enqueuer.launch(at); !enqueued) { return enqueued; }
  }
  return enqueuer.end();
}

/// Waits until every device has passed its end event.
template <class Calls>
Status await_end(Calls& calls, const Deadline& deadline) {
  for (std::size_t device = 0; device < calls.devices(); ++device) {
    if (Status passed = deadline.await(calls, device, EventNumbers::kEnd); !passed) { return passed; }
  }
  return {};
}

/// The slowest device's time between begin and end; both must have passed.
template <class Calls>
Result<Microseconds> slowest(const Calls& calls) {
  Microseconds longest{0};
  for (std::size_t device = 0; device < calls.devices(); ++device) {
    const Result<Microseconds> time = calls.took(device);
    if (!time) { return time.error(); }
    longest = std::max(longest, *time);
  }
  return longest;
}

}  // namespace elbowroom::detail
