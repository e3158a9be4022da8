#include "backend_gpu/workload.hpp"

#include <utility>

namespace elbowroom::gpu {

Result<std::unique_ptr<Workload>> GpuWorkload::make(const Scenario& scenario, const Machine& machine, std::uint64_t seed,
                                                    std::chrono::milliseconds time_limit) {
  Result<std::unique_ptr<OnDevices>> made = OnDevices::make(scenario, machine, seed);
  if (!made) return made.error();
  return std::unique_ptr<Workload>(new GpuWorkload(scenario, std::move(*made), time_limit));
}

Status GpuWorkload::accepts(const OverlapPlan& plan) const {
  if (on_devices_ == nullptr) return failed("an earlier run on these devices did not end; nothing more is run on them");
  if (Status possible = windows_possible(plan, scenario_); !possible) return possible;
  return on_devices_->accepts(plan);
}

Status GpuWorkload::or_give_up(Status ended) {
  if (ended) return ended;
  on_devices_->abort();
  static_cast<void>(on_devices_.release());
  return ended;
}

Result<GpuWorkload::Schedule> GpuWorkload::schedule(Order order, const OverlapPlan& plan) {
  OnDevices& here = *on_devices_;
  const Result<CommRoute> in_windows = here.route_for(plan);
  if (!in_windows) return in_windows.error();
  const Result<CommRoute> outside = here.route_for(outside_windows(plan, scenario_.collective));
  if (!outside) return outside.error();
  Result<OnDevices::Streams> streams = here.streams_for(plan);
  if (!streams) return streams.error();
  const ScheduleCalls::Parts parts{here.platform(), here.compute(), here.collective(), *in_windows, *outside};
  return Schedule{scenario_, order, plan, ScheduleCalls(parts, here.lanes()), here.lanes(), std::move(*streams)};
}

Status GpuWorkload::warm(Order order, const OverlapPlan& plan) {
  if (Status accepted = accepts(plan); !accepted) return accepted;
  if (warmed_.contains({order, plan})) return {};
  Result<Schedule> once = schedule(order, plan);
  if (!once) return once.error();
  const elbowroom::detail::Deadline deadline(time_limit_);
  const Status enqueued = enqueue_once(*once);
  if (Status ended = or_give_up(enqueued ? await_end(*once, deadline) : enqueued); !ended) return ended;
  warmed_.insert({order, plan});
  return {};
}

Result<Microseconds> GpuWorkload::run(Order order, const OverlapPlan& plan) {
  if (Status warmed = warm(order, plan); !warmed) return warmed.error();
  Result<Schedule> all = schedule(order, plan);
  if (!all) return all.error();
  const elbowroom::detail::Deadline deadline(time_limit_);
  const Status enqueued = enqueue_schedule(*all, on_devices_->start(), deadline);
  if (Status ended = or_give_up(enqueued ? await_end(*all, deadline) : enqueued); !ended) return ended.error();
  return slowest(*all);
}

Result<Timeline> GpuWorkload::record(Order order, const OverlapPlan& plan) {
  // Outside of the recording: set-up kernels are not part of the schedule.
  if (Status warmed = warm(order, plan); !warmed) return warmed.error();
  return on_devices_->platform().record([&]() -> Status {
    const Result<Microseconds> ran = run(order, plan);
    return ran ? Status() : Status(ran.error());
  });
}

Status GpuWorkload::verify(Order order, const OverlapPlan& plan) {
  // The first run of anything writes the outputs too: it comes before they are poisoned.
  if (Status warmed = warm(order, plan); !warmed) return warmed;
  const bool computes = order != Order::comm_only;
  const bool communicates = order != Order::compute_only;
  if (computes) {
    if (Status poisoned = on_devices_->compute().poison(); !poisoned) return poisoned;
  }
  if (communicates) {
    if (Status poisoned = on_devices_->collective().poison(); !poisoned) return poisoned;
  }
  if (const Result<Microseconds> ran = run(order, plan); !ran) return ran.error();
  if (computes) {
    if (Status verified = on_devices_->compute().verify(); !verified) return verified;
  }
  if (!communicates) return {};
  if (Status verified = on_devices_->collective().verify(); !verified) return verified;
  // The last collective ran outside of windows; what it received hides what those in windows did.
  return plan.windows_only && order == Order::concurrent ? verify(Order::comm_only, plan) : Status();
}

}  // namespace elbowroom::gpu
