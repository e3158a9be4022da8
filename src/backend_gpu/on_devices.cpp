#include "backend_gpu/on_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "backend/schedule.hpp"

namespace elbowroom::gpu {
namespace {

double gib(Bytes size) { return static_cast<double>(size.count()) / static_cast<double>(std::int64_t{1} << 30); }

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
                    gib(needed), gib(room), device));
  }
  return {};
}

/// What this backend runs: kernels and collectives of all ranks.
Status possible(const Step& step) {
  for (const Operation& operation : step.operations) {
    const bool works = std::holds_alternative<Compute>(operation.what) || std::holds_alternative<Collective>(operation.what);
    const bool everywhere = operation.at.empty() && !operation.at_group && communicator_size(step, operation) == step.ranks;
    if (!works || !everywhere || operation.host_gap != Microseconds(0)) {
      return invalid_input(
          fmt::format("operation \"{}\": expected a kernel of a scenario or a collective of all ranks, without a gap of the host "
                      "(a GPU backend runs nothing else of a step)",
                      operation.name));
    }
  }
  return {};
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
    const auto alike = std::ranges::find(step_.operations, operation.what, &Operation::what);
    const auto first = static_cast<std::size_t>(alike - step_.operations.begin());
    work_index_.push_back(first < work_index_.size() ? work_index_[first] : work_.size());
    if (work_index_.back() < work_.size()) continue;
    if (Status added = add_work(operation, seed); !added) return added;
  }
  return {};
}

Status OnDevices::add_work(const Operation& operation, std::uint64_t seed) {
  Platform& platform = *machine_.platform;
  Work work;
  if (const auto* what = std::get_if<Compute>(&operation.what)) {
    Result<std::unique_ptr<ComputeKernel>> compute = make_compute_kernel(platform, *what, step_.ranks, seed);
    if (!compute) return compute.error();
    work.compute = std::move(*compute);
  } else {
    Result<CollectiveBuffers> collective =
        CollectiveBuffers::make(platform, *machine_.comm, std::get<Collective>(operation.what), step_.ranks, seed);
    if (!collective) return collective.error();
    work.collective = std::make_unique<CollectiveBuffers>(std::move(*collective));
  }
  work_.push_back(std::move(work));
  return {};
}

Status OnDevices::accepts(const Launch& launch, const Lane& lane) const {
  if (Status exists = platform().accepts(operation_of(launch), launch, lane, *machine_.comm); !exists) return exists;
  if (const auto* settings = std::get_if<CommSettings>(&launch.settings)) {
    return settings->copy_engine || settings->symmetric ? windows_refused_ : Status();
  }
  const auto& settings = std::get<ComputeSettings>(launch.settings);
  if (Status compute = work_of(launch.operation).compute->accepts(settings); !compute) return compute;
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
      if (key.second.copy_engine == engines) communicators.abort();
    }
  }
}

Result<const Communicators*> OnDevices::communicators_for(int operation, const CommKey& key) {
  const CommBudget& budget = key.second;
  auto known = communicators_.find(key);
  if (known == communicators_.end()) {
    Result<Communicators> made = Communicators::make(runtime(), *machine_.comm, step_.ranks, budget);
    if (!made) return made.error();
    known = communicators_.emplace(key, std::move(*made)).first;
  }
  if (!budget.copy_engine && !budget.symmetric) return &known->second;
  const std::size_t work = work_index_[static_cast<std::size_t>(operation)];
  if (registered_.contains({key, work})) return &known->second;
  if (Status registered = work_[work].collective->register_with(known->second); !registered) {
    if (registered.error().kind == ErrorKind::unavailable) windows_refused_ = registered;
    communicators_.erase(known);
    return registered.error();
  }
  registered_.insert({key, work});
  return &known->second;
}

Result<CommRoute> OnDevices::route_by_detour(int operation, int comm_lane) {
  // What the library may not do by its own judgement is not done past it.
  if (const auto library = communicators_for(operation, {comm_lane, CommBudget::of_copy_engines()}); !library)
    return library.error();
  Work& work = work_[work_index_[static_cast<std::size_t>(operation)]];
  if (work.detour == nullptr) {
    Result<PeerCopies> made = work.collective->as_peer_copies();
    if (!made) return made.error();
    work.detour = std::make_unique<PeerCopies>(std::move(*made));
  }
  CommRoute route;
  route.detour = work.detour.get();
  return route;
}

Result<CommRoute> OnDevices::route_for(int operation, int comm_lane, const CommSettings& settings) {
  if (settings.peer_detour) return route_by_detour(operation, comm_lane);
  CommRoute route;
  const auto& collective = std::get<Collective>(step_.operations[static_cast<std::size_t>(operation)].what);
  if (!settings.copy_engine || collective.op == CollectiveOp::all_reduce) {
    const Result<const Communicators*> made =
        communicators_for(operation, {comm_lane, {settings.comm_blocks, settings.cluster, false, settings.symmetric}});
    if (!made) return made.error();
    route.sms = *made;
  }
  if (settings.copy_engine) {
    const Result<const Communicators*> made = communicators_for(operation, {comm_lane, CommBudget::of_copy_engines()});
    if (!made) return made.error();
    route.engines = *made;
  }
  return route;
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
  ScheduleCalls::Parts parts{platform(), {}, {}, {}, {}, events_};
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
  for (const std::size_t work : work_index_) {
    parts.computations.push_back(work_[work].compute.get());
    parts.collectives.push_back(work_[work].collective.get());
  }
  std::map<int, int> comm_lanes;
  for (const Launch& launch : program.launches) {
    const auto* settings = std::get_if<CommSettings>(&launch.settings);
    if (settings == nullptr) continue;
    const int comm_lane = comm_lanes.emplace(launch.lane, static_cast<int>(comm_lanes.size())).first->second;
    const CommUse use{launch.operation, launch.lane, *settings};
    if (parts.routes.contains(use)) continue;
    const Result<CommRoute> route = route_for(launch.operation, comm_lane, *settings);
    if (!route) return route.error();
    parts.routes.emplace(use, *route);
  }
  return ScheduleCalls(std::move(parts));
}

}  // namespace elbowroom::gpu
