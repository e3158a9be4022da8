#include "backend_cuda/workload.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "backend_cuda/handles.hpp"
#include "backend_cuda/kernel_recorder.hpp"
#include "backend_cuda/nccl_environment.hpp"
#include "elbowroom/plan/controls.hpp"

namespace elbowroom::cuda {
namespace {

double gib(Bytes size) { return static_cast<double>(size.count()) / static_cast<double>(std::int64_t{1} << 30); }

/// Said before the first allocation, in the scenario's words; an allocation that fails all the same says so itself.
Status enough_memory(const Scenario& scenario) {
  const Bytes needed = memory_per_device(scenario);
  for (int device = 0; device < scenario.gpus; ++device) {
    if (Status used = use_device(device); !used) return used;
    std::size_t free = 0;
    std::size_t total = 0;
    if (Status asked = check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo"); !asked) return asked;
    const Bytes room(static_cast<std::int64_t>(free));
    if (needed <= room) continue;
    return invalid_input(
        fmt::format("compute and collective.bytes: {:.1f} GiB on each GPU, expected at most {:.1f} GiB (free on GPU {})",
                    gib(needed), gib(room), device));
  }
  return {};
}

}  // namespace

CudaWorkload::CudaWorkload(const Scenario& scenario, std::shared_ptr<const NcclLibrary> nccl, std::chrono::milliseconds time_limit)
    : scenario_(scenario), nccl_(std::move(nccl)), time_limit_(time_limit), on_devices_(std::make_unique<OnDevices>()) {}

CudaWorkload::~CudaWorkload() = default;

Result<std::unique_ptr<Workload>> CudaWorkload::make(const Scenario& scenario, const std::vector<DeviceInfo>& devices,
                                                     std::shared_ptr<const NcclLibrary> nccl, std::uint64_t seed,
                                                     std::chrono::milliseconds time_limit) {
  std::unique_ptr<CudaWorkload> workload(new CudaWorkload(scenario, std::move(nccl), time_limit));
  if (Status built = workload->build(devices, seed); !built) return built.error();
  return std::unique_ptr<Workload>(std::move(workload));
}

Status CudaWorkload::build(const std::vector<DeviceInfo>& devices, std::uint64_t seed) {
  if (Status enough = enough_memory(scenario_); !enough) return enough;
  OnDevices& here = *on_devices_;
  for (int device = 0; device < scenario_.gpus; ++device) {
    Result<Lanes> lanes = make_lanes(device);
    if (!lanes) return lanes.error();
    here.lanes.push_back(std::move(*lanes));
  }
  Result<StartLine> start = StartLine::make();
  if (!start) return start.error();
  here.start = std::make_unique<StartLine>(std::move(*start));

  Result<std::unique_ptr<ComputeKernel>> compute = make_compute_kernel(scenario_.compute, devices, scenario_.gpus, seed);
  if (!compute) return compute.error();
  here.compute = std::move(*compute);
  facts_ = here.compute->facts();

  Result<CollectiveBuffers> collective = CollectiveBuffers::make(*nccl_, scenario_.collective, scenario_.gpus, seed);
  if (!collective) return collective.error();
  here.collective = std::make_unique<CollectiveBuffers>(std::move(*collective));
  return {};
}

const ComputeFacts& CudaWorkload::compute() const { return facts_; }

Status CudaWorkload::accepts(const OverlapPlan& plan) const {
  if (on_devices_ == nullptr) return failed("an earlier run on these devices did not end; nothing more is run on them");
  if (plan.launch_gate && !nccl_->launches_observed()) return nccl_->launches_observed();
  if (Status possible = windows_of_memory_possible(plan); !possible) return possible;
  if (Status possible = windows_possible(plan, scenario_); !possible) return possible;
  if (Status possible = comm_threads_possible(plan); !possible) return possible;
  return on_devices_->compute->accepts(plan);
}

Status CudaWorkload::windows_of_memory_possible(const OverlapPlan& plan) const {
  const CollectiveOp op = scenario_.collective.op;
  if (Status possible = detour_possible(plan, op); !possible) return possible;
  if (!plan.copy_engine && !plan.symmetric) return {};
  const std::string_view control = plan.symmetric ? "symmetric" : "copy_engine";
  if (Status allowed = peers_allowed(); !allowed) return unavailable(fmt::format("{}: {}", control, allowed.error().message));
  if (!windows_refused_) return windows_refused_;
  if (!nccl_->has_windows()) {
    return unavailable(fmt::format("{}: NCCL {} has no such collectives, expected 2.28 or later", control, nccl_->version()));
  }
  if (plan.symmetric && op == CollectiveOp::all_to_all) return invalid_input(std::string(kNoSymmetricExchange));
  if (plan.copy_engine && op == CollectiveOp::reduce_scatter) return invalid_input(std::string(kCopyEnginesDoNotAdd));
  return {};
}

Status CudaWorkload::or_give_up(Status ended) {
  if (ended) return ended;
  // Kernels first: copies of the same collective stand behind them, and an abort may wait for what it cannot reach.
  for (const bool engines : {false, true}) {
    for (auto& [budget, communicators] : on_devices_->communicators) {
      if (budget.copy_engine == engines) communicators.abort();
    }
  }
  static_cast<void>(on_devices_.release());
  return ended;
}

Result<const Communicators*> CudaWorkload::communicators_for(const CommBudget& budget) {
  OnDevices& here = *on_devices_;
  if (const auto known = here.communicators.find(budget); known != here.communicators.end()) return &known->second;

  Result<Communicators> made = Communicators::make(*nccl_, scenario_.gpus, budget);
  if (!made) return made.error();
  if (budget.copy_engine || budget.symmetric) {
    if (Status registered = here.collective->register_with(*made); !registered) {
      if (registered.error().kind == ErrorKind::unavailable) windows_refused_ = registered;
      return registered.error();
    }
  }
  return &here.communicators.emplace(budget, std::move(*made)).first->second;
}

Result<CommRoute> CudaWorkload::route_by_detour() {
  // What the library may not do by its own judgement is not done past it.
  if (const auto library = communicators_for(CommBudget::of_copy_engines()); !library) return library.error();
  if (on_devices_->detour == nullptr) {
    Result<PeerCopies> made = on_devices_->collective->as_peer_copies(*nccl_);
    if (!made) return made.error();
    on_devices_->detour = std::make_unique<PeerCopies>(std::move(*made));
  }
  CommRoute route;
  route.detour = on_devices_->detour.get();
  return route;
}

Result<CommRoute> CudaWorkload::route_for(const OverlapPlan& plan) {
  if (plan.peer_detour) return route_by_detour();
  CommRoute route;
  const bool reduces = scenario_.collective.op == CollectiveOp::all_reduce;
  if (!plan.copy_engine || reduces) {
    const Result<const Communicators*> made = communicators_for({plan.comm_blocks, plan.cluster, false, plan.symmetric});
    if (!made) return made.error();
    route.sms = *made;
  }
  if (plan.copy_engine) {
    const Result<const Communicators*> made = communicators_for(CommBudget::of_copy_engines());
    if (!made) return made.error();
    route.engines = *made;
  }
  return route;
}

Result<CudaWorkload::Streams> CudaWorkload::streams_for(const OverlapPlan& plan) {
  OnDevices& here = *on_devices_;
  Streams streams;
  for (const Lanes& lane : here.lanes) {
    streams.compute.push_back(lane.compute.get());
    streams.comm.push_back(plan.priority ? lane.urgent_comm.get() : lane.comm.get());
  }
  if (!plan.comm_sms) return streams;
  std::vector<SmPartition>& partitions = here.partitions[*plan.comm_sms];
  for (int device = static_cast<int>(partitions.size()); device < scenario_.gpus; ++device) {
    if (Status used = use_device(device); !used) return used.error();
    Result<SmPartition> made = SmPartition::leaving_out(*plan.comm_sms, device);
    if (!made) return made.error();
    partitions.push_back(std::move(*made));
  }
  if (plan.windows_only) streams.compute_outside = streams.compute;
  for (std::size_t at = 0; at < partitions.size(); ++at) streams.compute[at] = partitions[at].stream();
  return streams;
}

Result<CudaWorkload::Schedule> CudaWorkload::schedule(Order order, const OverlapPlan& plan) {
  OnDevices& here = *on_devices_;
  const Result<CommRoute> in_windows = route_for(plan);
  if (!in_windows) return in_windows.error();
  const Result<CommRoute> outside = route_for(outside_windows(plan, scenario_.collective));
  if (!outside) return outside.error();
  Result<Streams> streams = streams_for(plan);
  if (!streams) return streams.error();
  const ScheduleCalls::Parts parts{*here.compute, *here.collective, *nccl_, *in_windows, *outside};
  return Schedule{scenario_, order, plan, ScheduleCalls(parts, here.lanes), here.lanes, std::move(*streams)};
}

Status CudaWorkload::warm(Order order, const OverlapPlan& plan) {
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

Result<Microseconds> CudaWorkload::run(Order order, const OverlapPlan& plan) {
  if (Status warmed = warm(order, plan); !warmed) return warmed.error();
  Result<Schedule> all = schedule(order, plan);
  if (!all) return all.error();
  const elbowroom::detail::Deadline deadline(time_limit_);
  const Status enqueued = enqueue_schedule(*all, *on_devices_->start, deadline);
  if (Status ended = or_give_up(enqueued ? await_end(*all, deadline) : enqueued); !ended) return ended.error();
  return slowest(*all);
}

Result<Timeline> CudaWorkload::record(Order order, const OverlapPlan& plan) {
  // Outside of the recording: set-up kernels are not part of the schedule.
  if (Status warmed = warm(order, plan); !warmed) return warmed.error();
  return record_kernels([&]() -> Status {
    const Result<Microseconds> ran = run(order, plan);
    return ran ? Status() : Status(ran.error());
  });
}

Status CudaWorkload::verify(Order order, const OverlapPlan& plan) {
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

}  // namespace elbowroom::cuda
