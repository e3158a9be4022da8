#include "backend_hip/workload.hpp"

#include <fmt/format.h>

#include "backend_hip/cu_partition.hpp"
#include "elbowroom/plan/controls.hpp"

namespace elbowroom::hip {
namespace {

double gib(Bytes size) { return static_cast<double>(size.count()) / static_cast<double>(std::int64_t{1} << 30); }

/// Said before the first allocation, in the scenario's words; an allocation that fails all the same says so itself.
Status enough_memory(const HipLibrary& hip, const Scenario& scenario) {
  const Bytes needed = memory_per_device(scenario);
  for (int device = 0; device < scenario.gpus; ++device) {
    if (Status used = hip.use_device(device); !used) return used;
    std::size_t free = 0;
    std::size_t total = 0;
    if (Status asked = hip.check(hip.functions.mem_get_info(&free, &total), "hipMemGetInfo"); !asked) return asked;
    const Bytes room(static_cast<std::int64_t>(free));
    if (needed <= room) continue;
    return invalid_input(
        fmt::format("compute and collective.bytes: {:.1f} GiB on each GPU, expected at most {:.1f} GiB (free on GPU {})",
                    gib(needed), gib(room), device));
  }
  return {};
}

/// Controls without a counterpart in HIP.
Status exists_here(const OverlapPlan& plan) {
  if (plan.launch_gate) return no_launch_gate();
  if (plan.cluster) return invalid_input("cluster: HIP launches no clusters");
  if (plan.carveout) return invalid_input("carveout: the LDS of AMD devices is not carved out of a cache");
  if (plan.comm_threads) return invalid_input("comm_threads: RCCL takes no number of threads");
  if (plan.symmetric) return invalid_input(fmt::format("symmetric: {}", kSymmetricIsOfNccl));
  if (plan.copy_engine) return invalid_input(fmt::format("copy_engine: {}", kCopyEnginesAreOfNccl));
  if (plan.peer_detour) return invalid_input(fmt::format("peer_detour: {}", kCopyEnginesAreOfNccl));
  return {};
}

}  // namespace

HipWorkload::HipWorkload(const Scenario& scenario, const Machine& machine, std::chrono::milliseconds time_limit)
    : scenario_(scenario), time_limit_(time_limit), on_devices_(std::make_unique<OnDevices>()) {
  on_devices_->machine = machine;
}

HipWorkload::~HipWorkload() = default;

Result<std::unique_ptr<Workload>> HipWorkload::make(const Scenario& scenario, const Machine& machine, std::uint64_t seed,
                                                    std::chrono::milliseconds time_limit) {
  std::unique_ptr<HipWorkload> workload(new HipWorkload(scenario, machine, time_limit));
  if (Status built = workload->build(seed); !built) return built.error();
  return std::unique_ptr<Workload>(std::move(workload));
}

Status HipWorkload::build(std::uint64_t seed) {
  if (Status enough = enough_memory(hip(), scenario_); !enough) return enough;
  OnDevices& here = *on_devices_;
  DeviceCode& code = *here.machine.code;
  for (int device = 0; device < scenario_.gpus; ++device) {
    Result<Lanes> lanes = make_lanes(hip(), device);
    if (!lanes) return lanes.error();
    here.lanes.push_back(std::move(*lanes));
  }
  Result<StartLine> start = StartLine::make(code, scenario_.gpus);
  if (!start) return start.error();
  here.start = std::make_unique<StartLine>(std::move(*start));

  Result<std::unique_ptr<ComputeKernel>> compute =
      make_compute_kernel(code, scenario_.compute, here.machine.devices, scenario_.gpus, seed);
  if (!compute) return compute.error();
  here.compute = std::move(*compute);
  facts_ = here.compute->facts();

  Result<CollectiveBuffers> collective = CollectiveBuffers::make(code, scenario_.collective, scenario_.gpus, seed);
  if (!collective) return collective.error();
  here.collective = std::make_unique<CollectiveBuffers>(std::move(*collective));
  return {};
}

Status HipWorkload::accepts(const OverlapPlan& plan) const {
  if (on_devices_ == nullptr) return failed("an earlier run on these devices did not end; nothing more is run on them");
  const Machine& machine = on_devices_->machine;
  if (Status exists = exists_here(plan); !exists) return exists;
  if (Status possible = windows_possible(plan, scenario_); !possible) return possible;
  if (plan.priority && !machine.priority_acts) return machine.priority_acts;
  if (plan.comm_blocks && !machine.rccl->has_block_budgets()) {
    return invalid_input(
        fmt::format("comm_blocks: RCCL {} takes no block budget, expected 2.17 or later", machine.rccl->version()));
  }
  if (Status compute = on_devices_->compute->accepts(plan); !compute) return compute;
  const Result<Sms> units = compute_units(plan, machine.devices.front().limits.sms);
  return units ? Status() : Status(units.error());
}

Status HipWorkload::or_give_up(Status ended) {
  if (ended) return ended;
  for (auto& [budget, communicators] : on_devices_->communicators) communicators.abort();
  static_cast<void>(on_devices_.release());
  return ended;
}

Result<const Communicators*> HipWorkload::communicators_for(const OverlapPlan& plan) {
  OnDevices& here = *on_devices_;
  if (const auto known = here.communicators.find(plan.comm_blocks); known != here.communicators.end()) return &known->second;
  Result<Communicators> made = Communicators::make(hip(), *here.machine.rccl, scenario_.gpus, plan.comm_blocks);
  if (!made) return made.error();
  return &here.communicators.emplace(plan.comm_blocks, std::move(*made)).first->second;
}

Result<HipWorkload::Streams> HipWorkload::streams_for(const OverlapPlan& plan) {
  OnDevices& here = *on_devices_;
  Streams streams;
  for (const Lanes& lane : here.lanes) {
    streams.compute.push_back(lane.compute.get());
    streams.comm.push_back(plan.priority ? lane.urgent_comm.get() : lane.comm.get());
  }
  const Sms all = here.machine.devices.front().limits.sms;
  const Result<Sms> units = compute_units(plan, all);
  if (!units) return units.error();
  if (*units == all) return streams;
  std::vector<Stream>& masked = here.masked[*units];
  for (int device = static_cast<int>(masked.size()); device < scenario_.gpus; ++device) {
    if (Status used = hip().use_device(device); !used) return used.error();
    Result<Stream> made = make_masked_stream(hip(), *units, all);
    if (!made) return made.error();
    masked.push_back(std::move(*made));
  }
  if (plan.windows_only) streams.compute_outside = streams.compute;
  for (std::size_t at = 0; at < masked.size(); ++at) streams.compute[at] = masked[at].get();
  return streams;
}

Result<HipWorkload::Schedule> HipWorkload::schedule(Order order, const OverlapPlan& plan) {
  OnDevices& here = *on_devices_;
  const Result<const Communicators*> in_windows = communicators_for(plan);
  if (!in_windows) return in_windows.error();
  const Result<const Communicators*> outside = communicators_for(outside_windows(plan, scenario_.collective));
  if (!outside) return outside.error();
  Result<Streams> streams = streams_for(plan);
  if (!streams) return streams.error();
  const ScheduleCalls::Parts parts{hip(), *here.compute, *here.collective, *here.machine.rccl, **in_windows, **outside};
  return Schedule{scenario_, order, plan, ScheduleCalls(parts), here.lanes, std::move(*streams)};
}

Status HipWorkload::warm(Order order, const OverlapPlan& plan) {
  if (Status accepted = accepts(plan); !accepted) return accepted;
  if (on_devices_->warmed.contains({order, plan})) return {};
  Result<Schedule> once = schedule(order, plan);
  if (!once) return once.error();
  const elbowroom::detail::Deadline deadline(time_limit_);
  const Status enqueued = enqueue_once(*once);
  if (Status ended = or_give_up(enqueued ? await_end(*once, deadline) : enqueued); !ended) return ended;
  on_devices_->warmed.insert({order, plan});
  return {};
}

Result<Microseconds> HipWorkload::run(Order order, const OverlapPlan& plan) {
  if (Status warmed = warm(order, plan); !warmed) return warmed.error();
  Result<Schedule> all = schedule(order, plan);
  if (!all) return all.error();
  const elbowroom::detail::Deadline deadline(time_limit_);
  const Status enqueued = enqueue_schedule(*all, *on_devices_->start, deadline);
  if (Status ended = or_give_up(enqueued ? await_end(*all, deadline) : enqueued); !ended) return ended.error();
  return slowest(*all);
}

Result<Timeline> HipWorkload::record(Order, const OverlapPlan& plan) {
  if (Status accepted = accepts(plan); !accepted) return accepted.error();
  return unavailable("kernel records: the hip backend has no recorder");
}

Status HipWorkload::verify(Order order, const OverlapPlan& plan) {
  // The first run of anything writes the outputs too: it comes before they are poisoned.
  if (Status warmed = warm(order, plan); !warmed) return warmed;
  const bool computes = order != Order::comm_only;
  const bool communicates = order != Order::compute_only;
  if (computes) {
    if (Status poisoned = on_devices_->compute->poison(); !poisoned) return poisoned;
  }
  if (communicates) {
    if (Status poisoned = on_devices_->collective->poison(); !poisoned) return poisoned;
  }
  if (const Result<Microseconds> ran = run(order, plan); !ran) return ran.error();
  if (computes) {
    if (Status verified = on_devices_->compute->verify(); !verified) return verified;
  }
  if (!communicates) return {};
  if (Status verified = on_devices_->collective->verify(); !verified) return verified;
  // The last collective ran outside of windows; what it received hides what those in windows did.
  return plan.windows_only && order == Order::concurrent ? verify(Order::comm_only, plan) : Status();
}

}  // namespace elbowroom::hip
