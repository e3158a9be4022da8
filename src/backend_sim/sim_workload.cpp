#include "backend_sim/sim_workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "backend_sim/comm_model.hpp"
#include "backend_sim/compute_model.hpp"
#include "backend_sim/performance.hpp"
#include "elbowroom/plan/controls.hpp"
#include "elbowroom/plan/overlap_windows.hpp"

namespace elbowroom::sim {
namespace {

bool is_library(const Scenario& scenario) { return std::holds_alternative<LibraryGemm>(scenario.compute); }

Nanoseconds stamp(double microseconds) { return Nanoseconds(std::llround(microseconds * 1000.0)); }

LaunchShape shape_of(const KernelFootprint& footprint, std::int64_t blocks) {
  return {Blocks(blocks),          footprint.threads,        footprint.registers_per_thread,
          footprint.static_shared, footprint.dynamic_shared, footprint.cluster};
}

std::string_view kernel_beside_copies(CollectiveOp op) {
  return op == CollectiveOp::all_reduce ? to_string(CollectiveOp::reduce_scatter) : "copy within the device";
}

Span span_of(const Launch& launch, const Stage& stage, std::size_t at, const Scenario& scenario) {
  const SimCase& what = stage.what;
  const LaunchTimes& times = stage.run.launches[at];
  Span span;
  span.begin = stamp(stage.begin + times.begin);
  span.end = stamp(stage.begin + times.end);
  if (launch.kind == Kind::compute) {
    span.kind = SpanKind::compute;
    span.name = kernel_name(scenario.compute);
    span.launch = shape_of(what.compute.footprint, what.compute.work.blocks());
    return span;
  }
  span.kind = SpanKind::communication;
  if (launch.kind == Kind::copy) {
    span.name = "copies to peers";
    return span;
  }
  span.name = what.copied == 0 ? to_string(scenario.collective.op) : kernel_beside_copies(scenario.collective.op);
  if (what.symmetric) span.name += " on symmetric memory";
  span.launch = shape_of(what.comm.footprint, what.comm.blocks);
  return span;
}

// Drivers part SMs in these steps. CUDA Driver API, "Green Contexts": at least 8 and multiples of 8 from compute capability 9.0 on,
// at least 4 and multiples of 2 before. A CU mask has a bit for each compute unit.
Sms partition_of(Sms wanted, const DeviceLimits& device) {
  if (device.vendor == Vendor::amd) return wanted;
  return device.max_cluster > 1 ? round_up(wanted, Sms(8)) : std::max(round_up(wanted, Sms(2)), Sms(4));
}

Status accepts_threads(Threads threads, const Collective& collective, const DeviceLimits& device) {
  constexpr Threads least(128);
  constexpr Threads greatest(640);
  if (device.vendor != Vendor::nvidia) return invalid_input("comm_threads: RCCL takes no number of threads");
  if (collective.op == CollectiveOp::all_to_all) {
    return invalid_input("comm_threads: NCCL's send and receive take no number of threads");
  }
  if (threads >= least && threads <= greatest && threads.count() % device.warp.count() == 0) return {};
  return invalid_input(fmt::format("comm_threads: {}, expected a multiple of {} from {} to {}", threads.count(),
                                   device.warp.count(), least.count(), greatest.count()));
}

Status accepts_comm(const OverlapPlan& plan, const Collective& collective, const DeviceLimits& device) {
  if (Status possible = detour_possible(plan, collective.op); !possible) return possible;
  if (plan.copy_engine) {
    if (Status possible = copies_possible(collective.op, device); !possible) return possible;
  }
  if (plan.symmetric) {
    if (Status possible = symmetric_possible(collective.op, device); !possible) return possible;
  }
  if (plan.comm_blocks && (*plan.comm_blocks < Blocks(1) || *plan.comm_blocks > Blocks(64))) {
    return invalid_input(fmt::format("comm_blocks: {}, expected 1 to 64", plan.comm_blocks->count()));
  }
  if (plan.cluster && (*plan.cluster < 1 || *plan.cluster > device.max_cluster)) {
    return invalid_input(fmt::format("cluster: {}, expected 1 to {} on {}", *plan.cluster, device.max_cluster, device.name));
  }
  if (plan.comm_sms) {
    if (*plan.comm_sms < Sms(1) || partition_of(*plan.comm_sms, device) >= device.sms) {
      return invalid_input(fmt::format("comm_sms: {}, expected 1 to {}, rounded up to what the driver parts off",
                                       plan.comm_sms->count(), device.sms.count() - 1));
    }
  }
  return plan.comm_threads ? accepts_threads(*plan.comm_threads, collective, device) : Status();
}

}  // namespace

Result<std::unique_ptr<Workload>> SimWorkload::make(const Scenario& scenario, const DeviceLimits& device, const RunNoise& noise,
                                                    std::chrono::milliseconds time_limit) {
  std::unique_ptr<SimWorkload> workload(new SimWorkload(scenario, device, noise, time_limit));
  Result<ComputeProfile> compute = compute_profile(scenario.compute, device);
  if (!compute) return compute.error();
  workload->compute_ = std::move(*compute);
  if (is_library(scenario)) {
    workload->facts_.shape_refusal = "the library launches its own kernel, its shared memory is not ours to pad";
  } else {
    workload->facts_.footprint = workload->compute_.footprint;
    workload->facts_.blocks = Blocks(workload->compute_.work.blocks());
  }
  // A communication kernel that cannot run is said now and not at the first run.
  if (Result<CommProfile> comm = comm_profile(scenario.collective, {}, scenario.gpus, device); !comm) return comm.error();
  return std::unique_ptr<Workload>(std::move(workload));
}

Status SimWorkload::accepts(const OverlapPlan& plan) const {
  if (Status comm = accepts_comm(plan, scenario_.collective, device_); !comm) return comm;
  if (Status possible = windows_possible(plan, scenario_); !possible) return possible;
  if (plan.launch_gate && device_.vendor != Vendor::nvidia) {
    return invalid_input(fmt::format("launch_gate: {}", kNoGateUnderHip));
  }
  if (plan.carveout) {
    if (is_library(scenario_)) return invalid_input("carveout: acts on this project's kernels only, not on library_gemm");
    if (device_.vendor != Vendor::nvidia) {
      return invalid_input(fmt::format("carveout: {} has no L1 that its shared memory is carved out of", device_.name));
    }
    if (*plan.carveout < Percent(0) || *plan.carveout > Percent(100)) {
      return invalid_input(fmt::format("carveout: {}, expected 0 to 100 percent", plan.carveout->count()));
    }
  }
  if (is_library(scenario_)) {
    if (plan.pad != Bytes(0)) {
      return invalid_input(fmt::format("pad_bytes: library_gemm cannot be shaped: {}", facts_.shape_refusal));
    }
    if (plan.sm_target && (*plan.sm_target < Sms(1) || *plan.sm_target > device_.sms)) {
      return invalid_input(fmt::format("sm_target: {}, expected 1 to {}", plan.sm_target->count(), device_.sms.count()));
    }
    return {};
  }
  if (plan.sm_target) return invalid_input("sm_target: acts on library_gemm only, this kernel's grid is the scenario's");
  const Bytes room = device_.shared_per_block - compute_.footprint.static_shared;
  if (plan.pad < Bytes(0) || plan.pad > room) {
    return invalid_input(fmt::format("pad_bytes: {}, expected 0 to {} for this kernel", plan.pad.count(), room.count()));
  }
  return {};
}

Result<SimCase> SimWorkload::case_of(Order order, const OverlapPlan& plan) const {
  if (Status accepted = accepts(plan); !accepted) return accepted.error();
  Collective collective = scenario_.collective;
  if (plan.comm_blocks) collective.comm_blocks = plan.comm_blocks;
  if (plan.cluster) collective.cluster = plan.cluster;
  const auto profile_of = plan.copy_engine ? profile_beside_copies : comm_profile;
  Result<CommProfile> comm = profile_of(collective, {plan.comm_threads, plan.symmetric}, scenario_.gpus, device_);
  if (!comm) return comm.error();

  SimCase what;
  if (plan.copy_engine) what.copied = copied_bytes(collective, scenario_.gpus, plan.peer_detour);
  what.copies_only = plan.peer_detour;
  what.symmetric = plan.symmetric;
  what.machine = machine_of(device_);
  what.compute = compute_;
  what.compute.footprint.dynamic_shared += plan.pad;
  if (plan.sm_target) what.compute.work.x = std::min(what.compute.work.x, plan.sm_target->count());
  if (plan.comm_sms) {
    const Sms parted = partition_of(*plan.comm_sms, device_);
    what.machine.comm_sms = static_cast<int>(parted.count());
    // The library asks its context how many SMs there are. (rocBLAS knows nothing of a mask; its blocks share what is left alike.)
    if (compute_.persistent) what.compute.work.x = std::min(what.compute.work.x, (device_.sms - parted).count());
  }
  what.comm = *comm;
  what.pattern = scenario_.pattern;
  what.iterations = scenario_.iterations;
  what.order = order;
  what.priority = plan.priority;
  what.launch_gate = plan.launch_gate;
  what.carveout = plan.carveout;
  return what;
}

Result<std::vector<SimCase>> SimWorkload::stages_of(Order order, const OverlapPlan& plan) const {
  Result<SimCase> whole = case_of(order, plan);
  if (!whole) return whole.error();
  if (!plan.windows_only || order != Order::concurrent) return std::vector{std::move(*whole)};
  // The launches outside of windows run alone, before and after everything else.
  const OverlapPlan outside = outside_windows(plan, scenario_.collective);
  Result<SimCase> first = case_of(Order::compute_only, outside);
  if (!first) return first.error();
  Result<SimCase> last = case_of(Order::comm_only, outside);
  if (!last) return last.error();
  first->iterations = last->iterations = 1;
  whole->first_compute = whole->idle_comms = 1;
  return std::vector{std::move(*first), std::move(*whole), std::move(*last)};
}

Result<const SimWorkload::Answer*> SimWorkload::answer(Order order, const OverlapPlan& plan) {
  const std::pair question(order, plan);
  if (const auto known = answers_.find(question); known != answers_.end()) return &known->second;
  Result<std::vector<SimCase>> stages = stages_of(order, plan);
  if (!stages) return stages.error();
  const auto until = std::chrono::steady_clock::now() + time_limit_;
  const Overdue overdue = [until] { return std::chrono::steady_clock::now() > until; };
  Answer answer;
  for (SimCase& what : *stages) {
    Result<EngineRun> run = simulate(what, device_, overdue);
    if (!run) return run.error();
    const double begin = answer.end + (answer.stages.empty() ? 0 : what.machine.launch_gap);
    answer.end = begin + run->end;
    answer.stages.push_back({std::move(what), std::move(*run), begin});
  }
  return &answers_.emplace(question, std::move(answer)).first->second;
}

Result<Microseconds> SimWorkload::run(Order order, const OverlapPlan& plan) {
  const Result<const Answer*> found = answer(order, plan);
  if (!found) return found.error();
  return Microseconds((*found)->end) * noise_.next();
}

Result<Timeline> SimWorkload::record(Order order, const OverlapPlan& plan) {
  const Result<const Answer*> found = answer(order, plan);
  if (!found) return found.error();
  Timeline timeline;
  timeline.provenance = Provenance::simulated;
  for (int device = 0; device < scenario_.gpus; ++device) {
    for (const Stage& stage : (*found)->stages) {
      const std::vector<Launch> program = make_program(stage.what);
      for (std::size_t at = 0; at < program.size(); ++at) {
        timeline.spans.push_back(span_of(program[at], stage, at, scenario_));
        timeline.spans.back().device = device;
        // A stage of one kind alone knows only one stream.
        timeline.spans.back().stream = order == Order::concurrent && program[at].kind != Kind::compute ? 1 : program[at].stream;
      }
    }
  }
  return timeline;
}

Status SimWorkload::verify(Order order, const OverlapPlan& plan) {
  const Result<const Answer*> ran = answer(order, plan);
  return ran ? Status() : Status(ran.error());
}

}  // namespace elbowroom::sim
