#include "backend_gpu/on_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>

#include "backend/schedule.hpp"
#include "elbowroom/base/gibibytes.hpp"
#include "elbowroom/plan/compute_facts.hpp"
#include "elbowroom/plan/launch_check.hpp"
#include "model/work_sharing.hpp"
#include "plan/control_name.hpp"

namespace elbowroom::gpu {
namespace {

/// Said before the first allocation, in the scenario's words; an allocation that fails all the same says so itself.
Status enough_memory(const Runtime& runtime, const Step& step, const RanksHere& here) {
  const Bytes needed = memory_per_device(step);
  for (const auto& [rank, device] : here) {
    if (Status used = runtime.use_device(device); !used) { return used; }
    std::size_t free = 0;
    std::size_t total = 0;
    if (Status asked = runtime.call(runtime.calls.mem_get_info, &free, &total); !asked) { return asked; }
    const Bytes room(static_cast<std::int64_t>(free));
    if (needed <= room) { continue; }
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

RanksHere ranks_here(const Step& step, const Platform& platform, const BackendOptions& options) {
  if (options.own_rank) { return {{options.own_rank->rank, platform.devices().front().index}}; }
  RanksHere here;
  for (int rank = 0; rank < step.ranks; ++rank) {
    here.push_back({rank, platform.devices()[static_cast<std::size_t>(rank)].index});
  }
  return here;
}

/// Of the communicator by which the processes of a step meet.
CommKey meeting_key(const Step& step) {
  CommKey key{std::vector<int>(static_cast<std::size_t>(step.ranks)), kMeetingLane, {}};
  std::iota(key.ranks.begin(), key.ranks.end(), 0);
  return key;
}

}  // namespace

OnDevices::OnDevices(const Step& step, const Machine& machine, const BackendOptions& options)
    : step_(step),
      machine_(machine),
      here_(ranks_here(step, *machine.platform, options)),
      limit_(options.time_limit),
      can_(machine.platform->capabilities(*machine.comm)) {}

Result<std::unique_ptr<OnDevices>> OnDevices::make(const Step& step, const Machine& machine, const BackendOptions& options) {
  if (Status can = possible(step); !can) { return can.error(); }
  std::unique_ptr<OnDevices> made(new OnDevices(step, machine, options));
  if (Status built = made->build(options.seed); !built) { return built.error(); }
  return made;
}

Status OnDevices::build(std::uint64_t seed) {
  if (Status enough = enough_memory(runtime(), step_, here_); !enough) { return enough; }
  std::vector<int> devices;
  for (const RankHere& own : here_) {
    Result<DeviceEvents> events = make_timed_events(runtime(), own.device);
    if (!events) { return events.error(); }
    events_.push_back(std::move(*events));
    devices.push_back(own.device);
  }
  Result<std::unique_ptr<StartLine>> start = machine_.platform->start_line(devices);
  if (!start) { return start.error(); }
  start_ = std::move(*start);
  const std::vector<int> sharing = detail::first_sharing_memory(step_);
  for (const Operation& operation : step_.operations) {
    operation_devices_.push_back({computes(operation), {}});
    for (const Group::Member& member : group_of(ranks_of(step_, operation), here_).here) {
      operation_devices_.back().devices.push_back(member.at);
    }
    const auto first = static_cast<std::size_t>(sharing[work_index_.size()]);
    work_index_.push_back(first < work_index_.size() ? work_index_[first] : work_.size());
    if (work_index_.back() < work_.size()) { continue; }
    if (Status added = add_work(operation, seed); !added) { return added; }
  }
  return {};
}

Status OnDevices::add_work(const Operation& operation, std::uint64_t seed) {
  Work work;
  if (const auto* what = std::get_if<Compute>(&operation.what)) {
    std::vector<int> devices;
    for (const Group::Member& member : group_of(ranks_of(step_, operation), here_).here) { devices.push_back(member.device); }
    Result<std::unique_ptr<ComputeKernel>> compute = make_compute_kernel(*machine_.platform, *what, devices, seed);
    if (!compute) { return compute.error(); }
    work.compute = std::move(*compute);
  } else {
    const Collective collective = communication_of(step_, operation)->collective;
    for (const std::vector<int>& ranks : communicators_of(step_, operation)) {
      const Group group = group_of(ranks, here_);
      if (group.here.empty()) { continue; }
      if (Status added = add_exchange(collective, group, seed, work); !added) { return added; }
    }
  }
  work_.push_back(std::move(work));
  return {};
}

Status OnDevices::add_exchange(const Collective& collective, const Group& group, std::uint64_t seed, Work& work) {
  Result<CollectiveBuffers> buffers = CollectiveBuffers::make(*machine_.platform, *machine_.comm, collective, group, seed);
  if (!buffers) { return buffers.error(); }
  work.exchanges.push_back({std::make_unique<CollectiveBuffers>(std::move(*buffers)), nullptr});
  return {};
}

Status OnDevices::poison(int operation) const {
  const Work& work = work_of(operation);
  if (work.compute != nullptr) { return work.compute->poison(); }
  for (const Exchange& exchange : work.exchanges) {
    if (Status done = exchange.buffers->poison(); !done) { return done; }
  }
  return {};
}

Status OnDevices::verify(int operation) const {
  const Work& work = work_of(operation);
  if (work.compute != nullptr) { return work.compute->verify(); }
  for (const Exchange& exchange : work.exchanges) {
    if (Status done = exchange.buffers->verify(); !done) { return done; }
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
  if (Status possible = check_launch(site, launch, lane); !possible) { return possible; }
  if (const auto* settings = std::get_if<CommSettings>(&launch.settings)) {
    if (Status accepted = platform().accepts(*settings); !accepted) { return accepted; }
    if (settings->peer_detour && !alone()) {
      return invalid_input(elbowroom::detail::refusal_of<&OverlapPlan::peer_detour>(
          "copies between GPUs of one process, expected one process that drives all of them"));
    }
    return settings->copy_engine || settings->symmetric ? symmetric_refused_ : Status();
  }
  const auto& settings = std::get<ComputeSettings>(launch.settings);
  const auto left_out = platform().left_out(lane, settings);
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
      const auto left_out = platform().left_out(lane, *settings);
      if (!left_out) { return left_out.error(); }
      lane.leaving_out = *left_out;
    } else if (before >= 0) {
      // What communicates on a lane of computations stays where the lane is.
      lane = made.lanes[static_cast<std::size_t>(made.launches[static_cast<std::size_t>(before)].lane)];
    }
    const auto known = std::ranges::find(made.lanes, lane);
    launch.lane = static_cast<int>(known - made.lanes.begin());
    if (known == made.lanes.end()) { made.lanes.push_back(std::move(lane)); }
    if (before >= 0 && made.launches[static_cast<std::size_t>(before)].lane != launch.lane) { launch.after.push_back(before); }
    before = static_cast<int>(at);
  }
  return made;
}

void OnDevices::abort() {
  // Kernels first: copies of the same collective stand behind them, and an abort may wait for what it cannot reach.
  for (const bool engines : {false, true}) {
    for (auto& [key, communicators] : communicators_) {
      if (key.budget.copy_engine == engines) { communicators.abort(); }
    }
  }
}

std::vector<CommKey> OnDevices::without_id(const Program& program) const {
  if (alone()) { return {}; }
  std::vector<CommKey> keys{meeting_key(step_)};
  for (CommKey& key : communicator_keys(step_, program)) { keys.push_back(std::move(key)); }
  std::erase_if(keys, [&](const CommKey& key) { return key.ranks.size() < 2 || ids_.contains(key); });
  return keys;
}

Result<std::string> OnDevices::new_ids(std::size_t count) const {
  std::string ids;
  for (std::size_t made = 0; made < count; ++made) {
    UniqueId id;
    if (Status got = machine_.comm->call(machine_.comm->calls.get_unique_id, &id); !got) { return got.error(); }
    ids.append(id.internal, sizeof id.internal);
  }
  return ids;
}

Status OnDevices::give_id(const CommKey& key, const UniqueId& id) {
  return ids_.emplace(key, id).second ? Status() : failed("a communicator that has its id is given another");
}

Result<UniqueId> OnDevices::id_of(const CommKey& key) {
  if (alone() || key.ranks.size() < 2) {
    UniqueId id;
    if (Status got = machine_.comm->call(machine_.comm->calls.get_unique_id, &id); !got) { return got.error(); }
    return id;
  }
  const auto given = ids_.find(key);
  if (given == ids_.end() || !given->second) { return failed("a communicator of several processes has no id left"); }
  return *std::exchange(given->second, std::nullopt);
}

Result<Communicators*> OnDevices::communicators_for(const CommKey& key) {
  auto known = communicators_.find(key);
  if (known == communicators_.end()) {
    const Result<UniqueId> id = id_of(key);
    if (!id) { return id.error(); }
    const Group group = group_of(key.ranks, here_);
    Result<Communicators> made = Communicators::make(runtime(), machine_.comm, group, key.budget, *id, limit_);
    if (!made) { return made.error(); }
    known = communicators_.emplace(key, std::move(*made)).first;
  }
  return &known->second;
}

Result<const Communicators*> OnDevices::communicators_knowing(const CollectiveBuffers& buffers, const CommKey& key) {
  const Result<Communicators*> made = communicators_for(key);
  if (!made) { return made.error(); }
  const bool registers = key.budget.copy_engine || key.budget.symmetric;
  if (!registers || registered_.contains({key, &buffers})) { return *made; }
  if (Status registered = buffers.register_with(**made); !registered) {
    if (registered.error().kind == ErrorKind::unavailable) { symmetric_refused_ = registered; }
    communicators_.erase(key);
    return registered.error();
  }
  registered_.insert({key, &buffers});
  return *made;
}

Status OnDevices::meet_by_communicator() {
  if (alone() || meeting_) { return {}; }
  const Result<Communicators*> comms = communicators_for(meeting_key(step_));
  if (!comms) { return comms.error(); }
  Result<Meeting> made = Meeting::make(platform(), *machine_.comm, **comms, here_);
  if (!made) { return made.error(); }
  meeting_.emplace(std::move(*made));
  return {};
}

Status OnDevices::add_detour(Exchange& exchange, CommRoute& route) {
  if (exchange.detour == nullptr) {
    Result<PeerCopies> made = exchange.buffers->as_peer_copies();
    if (!made) { return made.error(); }
    exchange.detour = std::make_unique<PeerCopies>(std::move(*made));
  }
  route.detour = exchange.detour.get();
  return {};
}

Result<CommRoute> OnDevices::route_for(Exchange& exchange, CollectiveOp op, int comm_lane, const CommSettings& settings) {
  const CollectiveBuffers& buffers = *exchange.buffers;
  CommRoute route;
  for (const CommBudget& budget : budgets_of(op, settings)) {
    const auto made = communicators_knowing(buffers, {buffers.group().ranks, comm_lane, budget});
    if (!made) { return made.error(); }
    (budget.copy_engine ? route.engines : route.sms) = *made;
  }
  if (!settings.peer_detour) { return route; }
  const Status added = add_detour(exchange, route);
  return added ? Result<CommRoute>(route) : added.error();
}

Result<std::vector<GroupUse>> OnDevices::groups_for(int operation, int comm_lane, const CommSettings& settings) {
  const auto at = static_cast<std::size_t>(operation);
  const CollectiveOp op = communication_of(step_, step_.operations[at])->collective.op;
  std::vector<GroupUse> groups;
  for (Exchange& exchange : work_[work_index_[at]].exchanges) {
    const Result<CommRoute> route = route_for(exchange, op, comm_lane, settings);
    if (!route) { return route.error(); }
    groups.push_back({exchange.buffers.get(), *route});
  }
  return groups;
}

Result<std::vector<StreamHandle>> OnDevices::streams_for(const Lane& lane) {
  std::vector<StreamHandle> handles;
  for (std::size_t at = 0; at < here_.size(); ++at) {
    const int device = here_[at].device;
    if (Status used = runtime().use_device(device); !used) { return used.error(); }
    if (lane.leaving_out) {
      std::vector<SmPartition>& partitions = partitions_[lane];
      if (at == partitions.size()) {
        Result<SmPartition> made = platform().partition(*lane.leaving_out, device);
        if (!made) { return made.error(); }
        partitions.push_back(std::move(*made));
      }
      handles.push_back(partitions[at].stream.get());
      continue;
    }
    std::vector<Stream>& streams = streams_[lane];
    if (at == streams.size()) {
      const Result<int> greatest = greatest_priority(runtime());
      if (!greatest) { return greatest.error(); }
      Result<Stream> made = make_stream(runtime(), lane.urgent ? *greatest : kNormalPriority);
      if (!made) { return made.error(); }
      streams.push_back(std::move(*made));
    }
    handles.push_back(streams[at].get());
  }
  return handles;
}

Result<ScheduleCalls> OnDevices::calls_for(const Program& program) {
  if (Status met = meet_by_communicator(); !met) { return met.error(); }
  ScheduleCalls::Parts parts{platform(), {}, {}, {}, events_, here_, meeting_ ? &*meeting_ : nullptr};
  const std::size_t events = static_cast<std::size_t>(elbowroom::detail::events_of(program));
  for (std::size_t at = 0; at < here_.size(); ++at) {
    if (Status made = add_ordering_events(runtime(), here_[at].device, events, events_[at]); !made) { return made.error(); }
  }
  for (const Lane& lane : program.lanes) {
    Result<std::vector<StreamHandle>> streams = streams_for(lane);
    if (!streams) { return streams.error(); }
    parts.streams.push_back(std::move(*streams));
  }
  for (const std::size_t work : work_index_) { parts.computations.push_back(work_[work].compute.get()); }
  const std::vector<int> comm_lanes = comm_lanes_of(program);
  for (const Launch& launch : program.launches) {
    const auto* settings = std::get_if<CommSettings>(&launch.settings);
    if (settings == nullptr) { continue; }
    const CommUse use{launch.operation, launch.lane, *settings};
    if (parts.groups.contains(use)) { continue; }
    Result<std::vector<GroupUse>> groups =
        groups_for(launch.operation, comm_lanes[static_cast<std::size_t>(launch.lane)], *settings);
    if (!groups) { return groups.error(); }
    parts.groups.emplace(use, std::move(*groups));
  }
  return ScheduleCalls(std::move(parts));
}

}  // namespace elbowroom::gpu
