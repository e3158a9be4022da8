#include "backend_cuda/workload.hpp"

#include <fmt/format.h>

#include "backend_cuda/handles.hpp"
#include "backend_cuda/kernel_recorder.hpp"

namespace headroom::cuda {
namespace {

double gib(Bytes size) { return static_cast<double>(size.count()) / static_cast<double>(std::int64_t{1} << 30); }

/// Said before the first allocation, in the scenario's words; an allocation that fails all the same says so itself.
Status enough_memory(const Scenario& scenario) {
  const Bytes needed =
      memory_per_device(scenario.compute) + CollectiveBuffers::memory_per_device(scenario.collective, scenario.gpus);
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
    Result<DeviceLanes> lanes = DeviceLanes::make(device);
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

  Result<CollectiveBuffers> collective = CollectiveBuffers::make(scenario_.collective, scenario_.gpus, seed);
  if (!collective) return collective.error();
  here.collective = std::make_unique<CollectiveBuffers>(std::move(*collective));
  return {};
}

const ComputeFacts& CudaWorkload::compute() const { return facts_; }

Status CudaWorkload::accepts(const OverlapPlan& plan) const {
  if (on_devices_ == nullptr) return failed("an earlier run on these devices did not end; nothing more is run on them");
  if (plan.launch_gate) return invalid_input("launch_gate: true, expected false (the cuda backend has no launch gate yet)");
  return on_devices_->compute->accepts(plan);
}

Status CudaWorkload::or_give_up(Status ended) {
  if (ended) return ended;
  for (auto& [budget, communicators] : on_devices_->communicators) communicators.abort();
  static_cast<void>(on_devices_.release());
  return ended;
}

Result<const Communicators*> CudaWorkload::communicators_for(const OverlapPlan& plan) {
  OnDevices& here = *on_devices_;
  const CommBudget budget{plan.comm_blocks, plan.cluster};
  if (const auto known = here.communicators.find(budget); known != here.communicators.end()) return &known->second;

  Result<Communicators> made = Communicators::make(*nccl_, scenario_.gpus, budget);
  if (!made) return made.error();
  return &here.communicators.emplace(budget, std::move(*made)).first->second;
}

Operations CudaWorkload::operations_with(const Communicators& comms) const {
  return {on_devices_->compute.get(), on_devices_->collective.get(), nccl_.get(), &comms};
}

Status CudaWorkload::warm(Order order, const OverlapPlan& plan) {
  if (Status accepted = accepts(plan); !accepted) return accepted;
  if (on_devices_->warmed.contains({order, plan})) return {};
  Result<const Communicators*> comms = communicators_for(plan);
  if (!comms) return comms.error();
  const Status enqueued = enqueue_one(scenario_, order, plan, operations_with(**comms), on_devices_->lanes);
  if (Status ended = or_give_up(enqueued ? await_end(on_devices_->lanes, *comms, time_limit_) : enqueued); !ended) return ended;
  on_devices_->warmed.insert({order, plan});
  return {};
}

Status CudaWorkload::run_once(Order order, const OverlapPlan& plan) {
  if (Status warmed = warm(order, plan); !warmed) return warmed;
  Result<const Communicators*> comms = communicators_for(plan);
  if (!comms) return comms.error();
  OnDevices& here = *on_devices_;
  const Status enqueued = enqueue_schedule(scenario_, order, plan, operations_with(**comms), here.lanes, *here.start);
  return or_give_up(enqueued ? await_end(here.lanes, *comms, time_limit_) : enqueued);
}

Result<Microseconds> CudaWorkload::run(Order order, const OverlapPlan& plan) {
  if (Status ran = run_once(order, plan); !ran) return ran.error();
  return slowest(on_devices_->lanes);
}

Result<Timeline> CudaWorkload::record(Order order, const OverlapPlan& plan) {
  // Outside of the recording: set-up kernels are not part of the schedule.
  if (Status warmed = warm(order, plan); !warmed) return warmed.error();
  return record_kernels([&] { return run_once(order, plan); });
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
  if (Status ran = run_once(order, plan); !ran) return ran;
  if (computes) {
    if (Status verified = on_devices_->compute->verify(); !verified) return verified;
  }
  return communicates ? on_devices_->collective->verify() : Status();
}

}  // namespace headroom::cuda
