#include "backend_sim/launch_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "backend_sim/comm_model.hpp"
#include "backend_sim/compute_model.hpp"
#include "backend_sim/hosts.hpp"
#include "backend_sim/performance.hpp"
#include "elbowroom/model/collective_facts.hpp"
#include "elbowroom/plan/launch_check.hpp"
#include "plan/control_name.hpp"

namespace elbowroom::sim {
namespace {

bool of_library(const Operation& operation) {
  const auto* compute = std::get_if<Compute>(&operation.what);
  return compute != nullptr && std::holds_alternative<LibraryGemm>(*compute);
}

std::string_view kernel_beside_copies(CollectiveOp op) {
  return facts_of(op).adds_before_copies() ? to_string(CollectiveOp::reduce_scatter) : "copy within the device";
}

// Drivers part SMs in these steps. CUDA Driver API, "Green Contexts": at least 8 and multiples of 8 from compute capability 9.0 on,
// at least 4 and multiples of 2 before. A CU mask has a bit for each compute unit.
Sms partition_of(Sms wanted, const DeviceLimits& device) {
  if (device.vendor == Vendor::amd) { return wanted; }
  return device.max_cluster > 1 ? round_up(wanted, Sms(8)) : std::max(round_up(wanted, Sms(2)), Sms(4));
}

Status accepts_partition(Sms wanted, const DeviceLimits& device) {
  if (partition_of(wanted, device) < device.sms) { return {}; }
  return invalid_input(elbowroom::detail::refusal_of<&OverlapPlan::comm_sms>(
      fmt::format("{}, expected 1 to {}, rounded up to what the driver parts off", wanted.count(), device.sms.count() - 1)));
}

}  // namespace

Capabilities simulated_capabilities(const DeviceLimits& device) {
  Capabilities can = capabilities_of(device);
  // A cluster of one block is how every kernel runs there, so a scenario that says as much is simulated.
  if (device.max_cluster == 1) { can.comm_clusters = {}; }
  if (performance_of(device).copy_rate != 0) { return can; }
  const auto lacks = [&](Status& ability, std::string_view what) {
    if (ability) { ability = invalid_input(fmt::format("NCCL's {} need NVLink, {} has none", what, device.name)); }
  };
  lacks(can.symmetric, "kernels on symmetric memory");
  lacks(can.copy_engines, "collectives by copy engines");
  return can;
}

Result<LaunchModels> LaunchModels::make(const Step& step, const DeviceLimits& device, const std::optional<MachineSpec>& machine) {
  LaunchModels models(step, device, machine);
  const auto places = machine ? places_of(step, machine->host_gpus) : std::vector<std::optional<RingPlace>>(step.operations.size());
  if (std::ranges::any_of(places, [](const auto& place) { return place.has_value(); })) { models.lack_between_hosts(); }
  for (std::size_t at = 0; at < step.operations.size(); ++at) {
    const Operation& operation = step.operations[at];
    Known known;
    known.place = places[at];
    if (std::optional<Communication> communication = communication_of(step, operation)) {
      // A communication kernel that cannot run is said now and not at the first run.
      const Result<CommProfile> comm = comm_profile(communication->collective, {}, communication->ranks, device);
      if (!comm) { return comm.error(); }
      known.communication = std::move(communication);
    } else {
      const auto* recorded = std::get_if<RecordedKernel>(&operation.what);
      Result<ComputeProfile> compute =
          recorded != nullptr ? compute_profile(*recorded, device) : compute_profile(std::get<Compute>(operation.what), device);
      if (!compute) { return compute.error(); }
      known.compute = std::move(*compute);
      if (of_library(operation)) {
        known.facts.shape_refusal = kLibraryKernel;
      } else {
        known.facts.footprint = known.compute.footprint;
        known.facts.blocks = Blocks(known.compute.work.blocks());
      }
    }
    models.known_.push_back(std::move(known));
  }
  return models;
}

// Both reach their peers over the links of one host.
void LaunchModels::lack_between_hosts() {
  const auto lacks = [](Status& ability, std::string_view what) {
    if (ability) { ability = invalid_input(fmt::format("{} reach no other host", what)); }
  };
  lacks(can_.symmetric, "kernels on symmetric memory");
  lacks(can_.copy_engines, "collectives by copy engines");
}

Status LaunchModels::accepts(const Launch& launch, const Lane& lane) const {
  const auto at = static_cast<std::size_t>(launch.operation);
  const ComputeFacts& facts = known_[at].facts;
  const KernelFootprint* const footprint = facts.footprint ? &*facts.footprint : nullptr;
  const LaunchSite site{device_, can_, step_.operations[at], footprint, facts.shape_refusal};
  if (Status possible = check_launch(site, launch, lane); !possible) { return possible; }
  return lane.leaving_out ? accepts_partition(*lane.leaving_out, device_) : Status();
}

Result<LaunchModel> LaunchModels::model_of(const Launch& launch, const Lane& lane) const {
  const auto at = static_cast<std::size_t>(launch.operation);
  const Known& known = known_[at];
  LaunchModel model;
  if (known.communication) {
    const auto& [collective, ranks] = *known.communication;
    const auto& settings = std::get<CommSettings>(launch.settings);
    if (settings.copy_engine) { model.copied = copied_bytes(collective, ranks, settings.peer_detour); }
    if (settings.peer_detour) { return model; }
    const auto profile_of = settings.copy_engine ? profile_beside_copies : comm_profile;
    Result<CommProfile> comm = profile_of(collective, settings, ranks, device_);
    if (!comm) { return comm.error(); }
    if (known.place) { lead_over_hosts(*comm, collective.op, *known.place, *machine_); }
    model.kernel = SimKernel{*comm, 0, std::nullopt};
    return model;
  }
  const auto& settings = std::get<ComputeSettings>(launch.settings);
  SimKernel kernel{known.compute, 0, settings.carveout};
  auto& compute = std::get<ComputeProfile>(kernel.profile);
  compute.footprint.dynamic_shared += settings.pad;
  if (settings.sm_target) { compute.work.x = std::min(compute.work.x, settings.sm_target->count()); }
  if (lane.leaving_out) {
    const Sms parted = partition_of(*lane.leaving_out, device_);
    kernel.left_out = static_cast<int>(parted.count());
    // The library asks its context how many SMs there are. (rocBLAS knows nothing of a mask; its blocks share what is left alike.)
    if (compute.persistent) { compute.work.x = std::min(compute.work.x, (device_.sms - parted).count()); }
  }
  model.kernel = std::move(kernel);
  return model;
}

std::string LaunchModels::kernel_name(const Launch& launch) const {
  const Operation& operation = step_.operations[static_cast<std::size_t>(launch.operation)];
  const auto* settings = std::get_if<CommSettings>(&launch.settings);
  if (settings == nullptr) { return operation.name; }
  std::string name = operation.name;
  if (settings->copy_engine) {
    name = kernel_beside_copies(known_[static_cast<std::size_t>(launch.operation)].communication->collective.op);
  }
  return settings->symmetric ? name + " on symmetric memory" : name;
}

}  // namespace elbowroom::sim
