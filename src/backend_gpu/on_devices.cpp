#include "backend_gpu/on_devices.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

namespace elbowroom::gpu {
namespace {

double gib(Bytes size) { return static_cast<double>(size.count()) / static_cast<double>(std::int64_t{1} << 30); }

/// Said before the first allocation, in the scenario's words; an allocation that fails all the same says so itself.
Status enough_memory(const Runtime& runtime, const Scenario& scenario) {
  const Bytes needed = memory_per_device(scenario);
  for (int device = 0; device < scenario.gpus; ++device) {
    if (Status used = runtime.use_device(device); !used) return used;
    std::size_t free = 0;
    std::size_t total = 0;
    if (Status asked = runtime.call(runtime.calls.mem_get_info, &free, &total); !asked) return asked;
    const Bytes room(static_cast<std::int64_t>(free));
    if (needed <= room) continue;
    return invalid_input(
        fmt::format("compute and collective.bytes: {:.1f} GiB on each GPU, expected at most {:.1f} GiB (free on GPU {})",
                    gib(needed), gib(room), device));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<OnDevices>> OnDevices::make(const Scenario& scenario, const Machine& machine, std::uint64_t seed) {
  std::unique_ptr<OnDevices> made(new OnDevices(scenario, machine));
  if (Status built = made->build(seed); !built) return built.error();
  return made;
}

Status OnDevices::build(std::uint64_t seed) {
  Platform& platform = *machine_.platform;
  if (Status enough = enough_memory(runtime(), scenario_); !enough) return enough;
  for (int device = 0; device < scenario_.gpus; ++device) {
    Result<Lanes> lanes = make_lanes(runtime(), device);
    if (!lanes) return lanes.error();
    lanes_.push_back(std::move(*lanes));
  }
  Result<std::unique_ptr<StartLine>> start = platform.start_line(scenario_.gpus);
  if (!start) return start.error();
  start_ = std::move(*start);

  Result<std::unique_ptr<ComputeKernel>> compute = make_compute_kernel(platform, scenario_.compute, scenario_.gpus, seed);
  if (!compute) return compute.error();
  compute_ = std::move(*compute);

  Result<CollectiveBuffers> collective =
      CollectiveBuffers::make(platform, *machine_.comm, scenario_.collective, scenario_.gpus, seed);
  if (!collective) return collective.error();
  collective_ = std::make_unique<CollectiveBuffers>(std::move(*collective));
  return {};
}

Status OnDevices::accepts(const OverlapPlan& plan) const {
  if (Status exists = platform().accepts(plan, scenario_, *machine_.comm); !exists) return exists;
  if ((plan.copy_engine || plan.symmetric) && !windows_refused_) return windows_refused_;
  if (Status compute = compute_->accepts(plan); !compute) return compute;
  const Result<Sms> left_out = platform().left_out(plan);
  return left_out ? Status() : Status(left_out.error());
}

void OnDevices::abort() {
  // Kernels first: copies of the same collective stand behind them, and an abort may wait for what it cannot reach.
  for (const bool engines : {false, true}) {
    for (auto& [budget, communicators] : communicators_) {
      if (budget.copy_engine == engines) communicators.abort();
    }
  }
}

Result<const Communicators*> OnDevices::communicators_for(const CommBudget& budget) {
  if (const auto known = communicators_.find(budget); known != communicators_.end()) return &known->second;
  Result<Communicators> made = Communicators::make(runtime(), *machine_.comm, scenario_.gpus, budget);
  if (!made) return made.error();
  if (budget.copy_engine || budget.symmetric) {
    if (Status registered = collective_->register_with(*made); !registered) {
      if (registered.error().kind == ErrorKind::unavailable) windows_refused_ = registered;
      return registered.error();
    }
  }
  return &communicators_.emplace(budget, std::move(*made)).first->second;
}

Result<CommRoute> OnDevices::route_by_detour() {
  // What the library may not do by its own judgement is not done past it.
  if (const auto library = communicators_for(CommBudget::of_copy_engines()); !library) return library.error();
  if (detour_ == nullptr) {
    Result<PeerCopies> made = collective_->as_peer_copies();
    if (!made) return made.error();
    detour_ = std::make_unique<PeerCopies>(std::move(*made));
  }
  CommRoute route;
  route.detour = detour_.get();
  return route;
}

Result<CommRoute> OnDevices::route_for(const OverlapPlan& plan) {
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

Result<OnDevices::Streams> OnDevices::streams_for(const OverlapPlan& plan) {
  Streams streams;
  for (const Lanes& lane : lanes_) {
    streams.compute.push_back(lane.compute.get());
    streams.comm.push_back(plan.priority ? lane.urgent_comm.get() : lane.comm.get());
  }
  const Result<Sms> left_out = platform().left_out(plan);
  if (!left_out) return left_out.error();
  if (*left_out == Sms(0)) return streams;
  std::vector<SmPartition>& partitions = partitions_[*left_out];
  for (int device = static_cast<int>(partitions.size()); device < scenario_.gpus; ++device) {
    if (Status used = runtime().use_device(device); !used) return used.error();
    Result<SmPartition> made = platform().partition(*left_out, device);
    if (!made) return made.error();
    partitions.push_back(std::move(*made));
  }
  if (plan.windows_only) streams.compute_outside = streams.compute;
  for (std::size_t at = 0; at < partitions.size(); ++at) streams.compute[at] = partitions[at].stream.get();
  return streams;
}

}  // namespace elbowroom::gpu
