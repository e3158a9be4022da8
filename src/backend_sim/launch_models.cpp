#include "backend_sim/launch_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "backend_sim/comm_model.hpp"
#include "backend_sim/compute_model.hpp"
#include "elbowroom/model/collective_facts.hpp"
#include "elbowroom/plan/controls.hpp"

namespace elbowroom::sim {
namespace {

bool of_library(const Operation& operation) {
  const auto* compute = std::get_if<Compute>(&operation.what);
  return compute != nullptr && std::holds_alternative<LibraryGemm>(*compute);
}

std::string_view kernel_beside_copies(CollectiveOp op) {
  return op == CollectiveOp::all_reduce ? to_string(CollectiveOp::reduce_scatter) : "copy within the device";
}

// Drivers part SMs in these steps. CUDA Driver API, "Green Contexts": at least 8 and multiples of 8 from compute capability 9.0 on,
// at least 4 and multiples of 2 before. A CU mask has a bit for each compute unit.
Sms partition_of(Sms wanted, const DeviceLimits& device) {
  if (device.vendor == Vendor::amd) return wanted;
  return device.max_cluster > 1 ? round_up(wanted, Sms(8)) : std::max(round_up(wanted, Sms(2)), Sms(4));
}

Status accepts_threads(Threads threads, CollectiveOp op, const DeviceLimits& device) {
  constexpr Threads least(128);
  constexpr Threads greatest(640);
  if (device.vendor != Vendor::nvidia) return invalid_input("comm_threads: RCCL takes no number of threads");
  if (facts_of(op).exchanges) { return invalid_input("comm_threads: NCCL's send and receive take no number of threads"); }
  if (threads >= least && threads <= greatest && threads.count() % device.warp.count() == 0) return {};
  return invalid_input(fmt::format("comm_threads: {}, expected a multiple of {} from {} to {}", threads.count(),
                                   device.warp.count(), least.count(), greatest.count()));
}

Status accepts_comm(const CommSettings& settings, CollectiveOp op, const DeviceLimits& device) {
  if (Status possible = detour_possible(settings, op); !possible) return possible;
  if (settings.copy_engine) {
    if (Status possible = copies_possible(op, device); !possible) return possible;
  }
  if (settings.symmetric) {
    if (Status possible = symmetric_possible(op, device); !possible) return possible;
  }
  if (settings.comm_blocks && (*settings.comm_blocks < Blocks(1) || *settings.comm_blocks > Blocks(64))) {
    return invalid_input(fmt::format("comm_blocks: {}, expected 1 to 64", settings.comm_blocks->count()));
  }
  if (settings.cluster && (*settings.cluster < 1 || *settings.cluster > device.max_cluster)) {
    return invalid_input(fmt::format("cluster: {}, expected 1 to {} on {}", *settings.cluster, device.max_cluster, device.name));
  }
  return settings.comm_threads ? accepts_threads(*settings.comm_threads, op, device) : Status();
}

Status accepts_partition(Sms wanted, const DeviceLimits& device) {
  if (wanted >= Sms(1) && partition_of(wanted, device) < device.sms) return {};
  return invalid_input(fmt::format("comm_sms: {}, expected 1 to {}, rounded up to what the driver parts off", wanted.count(),
                                   device.sms.count() - 1));
}

}  // namespace

Result<LaunchModels> LaunchModels::make(const Step& step, const DeviceLimits& device) {
  LaunchModels models(step, device);
  for (const Operation& operation : step.operations) {
    Known known;
    if (std::optional<Communication> communication = communication_of(step, operation)) {
      // A communication kernel that cannot run is said now and not at the first run.
      const Result<CommProfile> comm = comm_profile(communication->collective, {}, communication->ranks, device);
      if (!comm) return comm.error();
      known.communication = std::move(communication);
    } else {
      const auto* recorded = std::get_if<RecordedKernel>(&operation.what);
      Result<ComputeProfile> compute =
          recorded != nullptr ? compute_profile(*recorded, device) : compute_profile(std::get<Compute>(operation.what), device);
      if (!compute) return compute.error();
      known.compute = std::move(*compute);
      if (of_library(operation)) {
        known.facts.shape_refusal = "the library launches its own kernel, its shared memory is not ours to pad";
      } else {
        known.facts.footprint = known.compute.footprint;
        known.facts.blocks = Blocks(known.compute.work.blocks());
      }
    }
    models.known_.push_back(std::move(known));
  }
  return models;
}

Status LaunchModels::accepts(const Launch& launch, const Lane& lane) const {
  const auto at = static_cast<std::size_t>(launch.operation);
  if (const std::optional<Communication>& communication = known_[at].communication) {
    const CollectiveOp op = communication->collective.op;
    if (Status comm = accepts_comm(std::get<CommSettings>(launch.settings), op, device_); !comm) return comm;
  }
  if (lane.leaving_out) {
    if (Status possible = accepts_partition(*lane.leaving_out, device_); !possible) return possible;
  }
  if (!launch.after_begun.empty() && device_.vendor != Vendor::nvidia) {
    return invalid_input(fmt::format("launch_gate: {}", kNoGateUnderHip));
  }
  if (!computes(step_.operations[at])) return {};
  return accepts(step_.operations[at], known_[at], std::get<ComputeSettings>(launch.settings));
}

Status LaunchModels::accepts(const Operation& operation, const Known& known, const ComputeSettings& settings) const {
  if (settings.carveout) {
    if (of_library(operation)) return invalid_input("carveout: acts on this project's kernels only, not on library_gemm");
    if (device_.vendor != Vendor::nvidia) {
      return invalid_input(fmt::format("carveout: {} has no L1 that its shared memory is carved out of", device_.name));
    }
    if (*settings.carveout < Percent(0) || *settings.carveout > Percent(100)) {
      return invalid_input(fmt::format("carveout: {}, expected 0 to 100 percent", settings.carveout->count()));
    }
  }
  if (of_library(operation)) {
    if (settings.pad != Bytes(0)) {
      return invalid_input(fmt::format("pad_bytes: library_gemm cannot be shaped: {}", known.facts.shape_refusal));
    }
    if (settings.sm_target && (*settings.sm_target < Sms(1) || *settings.sm_target > device_.sms)) {
      return invalid_input(fmt::format("sm_target: {}, expected 1 to {}", settings.sm_target->count(), device_.sms.count()));
    }
    return {};
  }
  if (settings.sm_target) return invalid_input("sm_target: acts on library_gemm only, this kernel's grid is the scenario's");
  const Bytes room = device_.shared_per_block - known.compute.footprint.static_shared;
  if (settings.pad < Bytes(0) || settings.pad > room) {
    return invalid_input(fmt::format("pad_bytes: {}, expected 0 to {} for this kernel", settings.pad.count(), room.count()));
  }
  return {};
}

Result<LaunchModel> LaunchModels::model_of(const Launch& launch, const Lane& lane) const {
  const auto at = static_cast<std::size_t>(launch.operation);
  const Known& known = known_[at];
  LaunchModel model;
  if (known.communication) {
    const auto& [collective, ranks] = *known.communication;
    const auto& settings = std::get<CommSettings>(launch.settings);
    if (settings.copy_engine) model.copied = copied_bytes(collective, ranks, settings.peer_detour);
    if (settings.peer_detour) return model;
    const auto profile_of = settings.copy_engine ? profile_beside_copies : comm_profile;
    Result<CommProfile> comm = profile_of(collective, settings, ranks, device_);
    if (!comm) return comm.error();
    model.kernel = SimKernel{*comm, 0, std::nullopt};
    return model;
  }
  const auto& settings = std::get<ComputeSettings>(launch.settings);
  SimKernel kernel{known.compute, 0, settings.carveout};
  auto& compute = std::get<ComputeProfile>(kernel.profile);
  compute.footprint.dynamic_shared += settings.pad;
  if (settings.sm_target) compute.work.x = std::min(compute.work.x, settings.sm_target->count());
  if (lane.leaving_out) {
    const Sms parted = partition_of(*lane.leaving_out, device_);
    kernel.left_out = static_cast<int>(parted.count());
    // The library asks its context how many SMs there are. (rocBLAS knows nothing of a mask; its blocks share what is left alike.)
    if (compute.persistent) compute.work.x = std::min(compute.work.x, (device_.sms - parted).count());
  }
  model.kernel = std::move(kernel);
  return model;
}

std::string LaunchModels::kernel_name(const Launch& launch) const {
  const Operation& operation = step_.operations[static_cast<std::size_t>(launch.operation)];
  const auto* settings = std::get_if<CommSettings>(&launch.settings);
  if (settings == nullptr) return operation.name;
  std::string name = operation.name;
  if (settings->copy_engine) {
    name = kernel_beside_copies(known_[static_cast<std::size_t>(launch.operation)].communication->collective.op);
  }
  return settings->symmetric ? name + " on symmetric memory" : name;
}

}  // namespace elbowroom::sim
