#include "backend_gpu/on_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>

#include "backend/schedule.hpp"
#include "elbowroom/base/gibibytes.hpp"
#include "elbowroom/model/collective_facts.hpp"
#include "elbowroom/plan/launch_check.hpp"

namespace elbowroom::gpu {
namespace {

/// Said before the first allocation, in the scenario's words; an allocation that fails all the same says so itself.
Status enough_memory(const Runtime& runtime, const Step& step) {
  const Bytes needed = memory_per_device(step);
  for (int device = 0; device < step.ranks; ++device) {
    if (Status used = runtime.use_device(device); !used) return used;
    std::size_t free = 0;
    std::size_t total = 0;
    if (Status asked = runtime.call(runtime.calls.mem_get_info, &free, &total); !asked) return asked;
    const Bytes room(static_cast<std::int64_t>(free));
    if (needed <= room) continue;
    return invalid_input(
        fmt::format("compute and collective.bytes: {:.1f} GiB on each GPU, expected at most {:.1f} GiB (free on GPU {})",
                    in_gibibytes(needed), in_gibibytes(room), device));
  }
  return {};
}

/// What this backend runs: kernels of its own or of a library, and what the communication library does.
Status possible(const Step& step) {
  for (const Operation& operation : step.operations) {
    if (std::holds_alternative<RecordedKernel>(operation.what)) {
      return invalid_input(fmt::format(
          "operation \"{}\": a recorded kernel, expected one that a GPU backend can launch (the simulator takes it by its times)",
          operation.name));
    }
    if (operation.host_gap != Microseconds(0)) {
      return invalid_input(fmt::format("operation \"{}\": host_gap_us: {}, expected none (a real host takes its own time)",
                                       operation.name, operation.host_gap.count()));
    }
  }
  return {};
}

elbowroom::detail::OperationPlace place_of(const Step& step, const Operation& operation) {
  const std::vector<int> ranks = ranks_of(step, operation);
  return {computes(operation), {ranks.begin(), ranks.end()}};
}

}  // namespace

Result<std::unique_ptr<OnDevices>> OnDevices::make(const Step& step, const Machine& machine, std::uint64_t seed) {
  if (Status can = possible(step); !can) return can.error();
  std::unique_ptr<OnDevices> made(new OnDevices(step, machine));
  if (Status built = made->build(seed); !built) return built.error();
  return made;
}

Status OnDevices::build(std::uint64_t seed) {
  if (Status enough = enough_memory(runtime(), step_); !enough) return enough;
  for (int device = 0; device < step_.ranks; ++device) {
    Result<DeviceEvents> events = make_timed_events(runtime(), device);
    if (!events) return events.error();
    events_.push_back(std::move(*events));
  }
  Result<std::unique_ptr<StartLine>> start = machine_.platform->start_line(step_.ranks);
  if (!start) return start.error();
  start_ = std::move(*start);
  for (const Operation& operation : step_.operations) {
    places_.push_back(place_of(step_, operation));
    const auto alike =
        std::ranges::find_if(step_.operations, [&](const Operation& other) { return shares_memory(other, operation); });
    const auto first = static_cast<std::size_t>(alike - step_.operations.begin());
    work_index_.push_back(first < work_index_.size() ? work_index_[first] : work_.size());
    if (work_index_.back() < work_.size()) continue;
    if (Status added = add_work(operation, seed); !added) return added;
  }
  return {};
}

Status OnDevices::add_work(const Operation& operation, std::uint64_t seed) {
  Work work;
  if (const auto* what = std::get_if<Compute>(&operation.what)) {
    Result<std::unique_ptr<ComputeKernel>> compute =
        make_compute_kernel(*machine_.platform, *what, ranks_of(step_, operation), seed);
    if (!compute) return compute.error();
    work.compute = std::move(*compute);
  } else {
    const Collective collective = communication_of(step_, operation)->collective;
    for (const std::vector<int>& devices : communicators_of(step_, operation)) {
      if (Status added = add_exchange(collective, devices, seed, work); !added) return added;
    }
  }
  work_.push_back(std::move(work));
  return {};
}

Status OnDevices::add_exchange(const Collective& collective, const std::vector<int>& devices, std::uint64_t seed, Work& work) {
  Result<CollectiveBuffers> buffers = CollectiveBuffers::make(*machine_.platform, *machine_.comm, collective, devices, seed);
  if (!buffers) return buffers.error();
  work.exchanges.push_back({std::make_unique<CollectiveBuffers>(std::move(*buffers)), nullptr});
  return {};
}

Status OnDevices::poison(int operation) const {
  const Work& work = work_of(operation);
  if (work.compute != nullptr) return work.compute->poison();
  for (const Exchange& exchange : work.exchanges) {
    if (Status done = exchange.buffers->poison(); !done) return done;
  }
  return {};
}

Status OnDevices::verify(int operation) const {
  const Work& work = work_of(operation);
  if (work.compute != nullptr) return work.compute->verify();
  for (const Exchange& exchange : work.exchanges) {
    if (Status done = exchange.buffers->verify(); !done) return done;
  }
  return {};
}

Status OnDevices::accepts(const Launch& launch, const Lane& lane) const {
  LaunchSite site{platform().devices().front().limits, can_, operation_of(launch)};
  if (const ComputeKernel* const computing = work_of(launch.operation).compute.get(); computing != nullptr) {
    const ComputeFacts& facts = computing->facts();
    site.compute = facts.footprint ? &*facts.footprint : nullptr;
    site.shape_refusal = facts.shape_refusal;
  }
  if (Status possible = check_launch(site, launch, lane); !possible) return possible;
  if (const auto* settings = std::get_if<CommSettings>(&launch.settings)) {
    if (Status accepted = platform().accepts(*settings); !accepted) return accepted;
    return settings->copy_engine || settings->symmetric ? symmetric_refused_ : Status();
  }
  const auto& settings = std::get<ComputeSettings>(launch.settings);
  const Result<Sms> left_out = platform().left_out(lane, settings);
  return left_out ? Status() : Status(left_out.error());
}

Result<Program> OnDevices::on_streams(const Program& program) const {
  Program made;
  made.launches = program.launches;
  std::vector<int> latest(program.lanes.size(), -1);
  for (std::size_t at = 0; at < program.launches.size(); ++at) {
    Launch& launch = made.launches[at];
    const auto own = static_cast<std::size_t>(program.launches[at].lane);
    Lane lane = program.lanes[own];
    int& before = latest[own];
    if (const auto* settings = std::get_if<ComputeSettings>(&launch.settings)) {
      const Result<Sms> left_out = platform().left_out(lane, *settings);
      if (!left_out) return left_out.error();
      lane.leaving_out = *left_out == Sms(0) ? std::nullopt : std::optional(*left_out);
    } else if (before >= 0) {
      // What communicates on a lane of computations stays where the lane is.
      lane = made.lanes[static_cast<std::size_t>(made.launches[static_cast<std::size_t>(before)].lane)];
    }
    const auto known = std::ranges::find(made.lanes, lane);
    launch.lane = static_cast<int>(known - made.lanes.begin());
    if (known == made.lanes.end()) made.lanes.push_back(std::move(lane));
    if (before >= 0 && made.launches[static_cast<std::size_t>(before)].lane != launch.lane) launch.after.push_back(before);
    before = static_cast<int>(at);
  }
  return made;
}

void OnDevices::abort() {
  // Kernels first: copies of the same collective stand behind them, and an abort may wait for what it cannot reach.
  for (const bool engines : {false, true}) {
    for (auto& [key, communicators] : communicators_) {
      if (key.budget.copy_engine == engines) communicators.abort();
    }
  }
}

Result<const Communicators*> OnDevices::communicators_for(const CollectiveBuffers& buffers, const CommKey& key) {
  auto known = communicators_.find(key);
  if (known == communicators_.end()) {
    Result<Communicators> made = Communicators::make(runtime(), *machine_.comm, key.devices, key.budget);
    if (!made) return made.error();
    known = communicators_.emplace(key, std::move(*made)).first;
  }
  if (!key.budget.copy_engine && !key.budget.symmetric) return &known->second;
  if (registered_.contains({key, &buffers})) return &known->second;
  if (Status registered = buffers.register_with(known->second); !registered) {
    if (registered.error().kind == ErrorKind::unavailable) symmetric_refused_ = registered;
    communicators_.erase(known);
    return registered.error();
  }
  registered_.insert({key, &buffers});
  return &known->second;
}

Result<CommRoute> OnDevices::route_by_detour(Exchange& exchange, int comm_lane) {
  const CollectiveBuffers& buffers = *exchange.buffers;
  // What the library may not do by its own judgement is not done past it.
  const auto library = communicators_for(buffers, {buffers.devices(), comm_lane, CommBudget::of_copy_engines()});
  if (!library) return library.error();
  if (exchange.detour == nullptr) {
    Result<PeerCopies> made = buffers.as_peer_copies();
    if (!made) return made.error();
    exchange.detour = std::make_unique<PeerCopies>(std::move(*made));
  }
  CommRoute route;
  route.detour = exchange.detour.get();
  return route;
}

Result<CommRoute> OnDevices::route_for(Exchange& exchange, int comm_lane, const CommSettings& settings, bool kernels_too) {
  if (settings.peer_detour) return route_by_detour(exchange, comm_lane);
  const CollectiveBuffers& buffers = *exchange.buffers;
  CommRoute route;
  if (!settings.copy_engine || kernels_too) {
    const CommBudget budget{settings.comm_blocks, settings.cluster, false, settings.symmetric};
    const Result<const Communicators*> made = communicators_for(buffers, {buffers.devices(), comm_lane, budget});
    if (!made) return made.error();
    route.sms = *made;
  }
  if (settings.copy_engine) {
    const auto made = communicators_for(buffers, {buffers.devices(), comm_lane, CommBudget::of_copy_engines()});
    if (!made) return made.error();
    route.engines = *made;
  }
  return route;
}

Result<std::vector<GroupUse>> OnDevices::groups_for(int operation, int comm_lane, const CommSettings& settings) {
  const auto at = static_cast<std::size_t>(operation);
  const CollectiveOp op = communication_of(step_, step_.operations[at])->collective.op;
  const bool kernels_too = facts_of(op).engines == CollectiveFacts::Engines::gathering_half;
  std::vector<GroupUse> groups;
  for (Exchange& exchange : work_[work_index_[at]].exchanges) {
    const Result<CommRoute> route = route_for(exchange, comm_lane, settings, kernels_too);
    if (!route) return route.error();
    groups.push_back({exchange.buffers.get(), *route});
  }
  return groups;
}

Result<std::vector<StreamHandle>> OnDevices::streams_for(const Lane& lane) {
  std::vector<StreamHandle> handles;
  for (int device = 0; device < step_.ranks; ++device) {
    const auto at = static_cast<std::size_t>(device);
    if (Status used = runtime().use_device(device); !used) return used.error();
    if (lane.leaving_out) {
      std::vector<SmPartition>& partitions = partitions_[lane];
      if (at == partitions.size()) {
        Result<SmPartition> made = platform().partition(*lane.leaving_out, device);
        if (!made) return made.error();
        partitions.push_back(std::move(*made));
      }
      handles.push_back(partitions[at].stream.get());
      continue;
    }
    std::vector<Stream>& streams = streams_[lane];
    if (at == streams.size()) {
      const Result<int> greatest = greatest_priority(runtime());
      if (!greatest) return greatest.error();
      Result<Stream> made = make_stream(runtime(), lane.urgent ? *greatest : kNormalPriority);
      if (!made) return made.error();
      streams.push_back(std::move(*made));
    }
    handles.push_back(streams[at].get());
  }
  return handles;
}

Result<ScheduleCalls> OnDevices::calls_for(const Program& program) {
  ScheduleCalls::Parts parts{platform(), {}, {}, {}, events_};
  const std::size_t events = static_cast<std::size_t>(elbowroom::detail::events_of(program));
  for (int device = 0; device < step_.ranks; ++device) {
    if (Status made = add_ordering_events(runtime(), device, events, events_[static_cast<std::size_t>(device)]); !made)
      return made.error();
  }
  for (const Lane& lane : program.lanes) {
    Result<std::vector<StreamHandle>> streams = streams_for(lane);
    if (!streams) return streams.error();
    parts.streams.push_back(std::move(*streams));
  }
  for (const std::size_t work : work_index_) parts.computations.push_back(work_[work].compute.get());
  std::map<int, int> comm_lanes;
  for (const Launch& launch : program.launches) {
    const auto* settings = std::get_if<CommSettings>(&launch.settings);
    if (settings == nullptr) continue;
    const int comm_lane = comm_lanes.emplace(launch.lane, static_cast<int>(comm_lanes.size())).first->second;
    const CommUse use{launch.operation, launch.lane, *settings};
    if (parts.groups.contains(use)) continue;
    Result<std::vector<GroupUse>> groups = groups_for(launch.operation, comm_lane, *settings);
    if (!groups) return groups.error();
    parts.groups.emplace(use, std::move(*groups));
  }
  return ScheduleCalls(std::move(parts));
}

}  // namespace elbowroom::gpu
