#include "backend_gpu/workload.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "backend/schedule.hpp"

namespace elbowroom::gpu {
namespace {

/// Launches whose results a later one of the same operation, with other settings, writes over: one of each kind, none of which
/// waits.
Program hidden(const Program& program) {
  Program made;
  made.lanes = program.lanes;
  std::set<int> last;  // operations of which the kind that comes last is known
  std::set<std::tuple<int, LaunchSettings>> known;
  for (auto launch = program.launches.rbegin(); launch != program.launches.rend(); ++launch) {
    if (!known.emplace(launch->operation, launch->settings).second || last.insert(launch->operation).second) { continue; }
    Launch alone = *launch;
    alone.after.clear();
    alone.after_begun.clear();
    made.launches.push_back(std::move(alone));
  }
  return made;
}

}  // namespace

GpuWorkload::GpuWorkload(const Step& step, std::unique_ptr<OnDevices> on_devices, std::chrono::milliseconds time_limit)
    : step_(step), time_limit_(time_limit), can_(on_devices->capabilities()), on_devices_(std::move(on_devices)) {
  for (int at = 0; at < static_cast<int>(step_.operations.size()); ++at) {
    const bool computing = on_devices_->operation_devices()[static_cast<std::size_t>(at)].computes;
    facts_.push_back(computing ? on_devices_->compute(at).facts() : ComputeFacts());
  }
}

Result<std::unique_ptr<Workload>> GpuWorkload::make(const Step& step, const Machine& machine, const BackendOptions& options) {
  Result<std::unique_ptr<OnDevices>> made = OnDevices::make(step, machine, options);
  if (!made) { return made.error(); }
  return std::unique_ptr<Workload>(new GpuWorkload(step, std::move(*made), options.time_limit));
}

Status GpuWorkload::accepts(const Program& program) const {
  if (on_devices_ == nullptr) { return failed("an earlier run on these devices did not end; nothing more is run on them"); }
  std::set<std::tuple<int, int, bool, LaunchSettings>> known;
  for (const Launch& launch : program.launches) {
    if (!known.emplace(launch.operation, launch.lane, launch.after_begun.empty(), launch.settings).second) { continue; }
    const Lane& lane = program.lanes[static_cast<std::size_t>(launch.lane)];
    if (Status accepted = on_devices_->accepts(launch, lane); !accepted) { return accepted; }
  }
  return {};
}

Status GpuWorkload::or_give_up(Status ended) {
  if (ended) { return ended; }
  on_devices_->abort();
  static_cast<void>(on_devices_.release());
  return ended;
}

Status GpuWorkload::warm(const Program& program) {
  if (Status accepted = accepts(program); !accepted) { return accepted; }
  const Result<Program> streams = on_devices_->on_streams(elbowroom::detail::kinds_of(program));
  if (!streams) { return streams.error(); }
  if (warmed_.contains(*streams)) { return {}; }
  Result<ScheduleCalls> calls = on_devices_->calls_for(*streams);
  if (!calls) { return calls.error(); }
  const elbowroom::detail::Deadline deadline(time_limit_);
  const Status enqueued = elbowroom::detail::enqueue_unheld(*streams, on_devices_->operation_devices(), *calls);
  if (Status ended = or_give_up(enqueued ? elbowroom::detail::await_end(*calls, deadline) : enqueued); !ended) { return ended; }
  warmed_.insert(*streams);
  return {};
}

Result<Microseconds> GpuWorkload::run(const Program& program) {
  if (Status warmed = warm(program); !warmed) { return warmed.error(); }
  return run_warmed(program);
}

Result<Microseconds> GpuWorkload::run_warmed(const Program& program) {
  const Result<Program> streams = on_devices_->on_streams(program);
  if (!streams) { return streams.error(); }
  Result<ScheduleCalls> calls = on_devices_->calls_for(*streams);
  if (!calls) { return calls.error(); }
  const elbowroom::detail::Deadline deadline(time_limit_);
  const Status enqueued =
      elbowroom::detail::enqueue_program(*streams, on_devices_->operation_devices(), *calls, on_devices_->start(), deadline);
  if (Status ended = or_give_up(enqueued ? elbowroom::detail::await_end(*calls, deadline) : enqueued); !ended) {
    return ended.error();
  }
  return elbowroom::detail::slowest(*calls);
}

Result<Timeline> GpuWorkload::record(const Program& program) {
  // Outside of the recording: set-up kernels are not part of the schedule.
  if (Status warmed = warm(program); !warmed) { return warmed.error(); }
  Result<Timeline> recorded = on_devices_->platform().record([&]() -> Status {
    const Result<Microseconds> ran = run_warmed(program);
    return ran ? Status() : Status(ran.error());
  });
  if (!recorded || on_devices_->alone()) { return recorded; }
  return from_meeting(std::move(*recorded), on_devices_->ranks());
}

Result<std::vector<CommKey>> GpuWorkload::without_id(const Program& program) const {
  std::vector<CommKey> keys;
  for (const Program& one : {program, hidden(program)}) {
    // Launches of one kind go over the same: a program of thousands has few.
    const Result<Program> streams = on_devices_->on_streams(elbowroom::detail::kinds_of(one));
    if (!streams) { return streams.error(); }
    for (CommKey& key : on_devices_->without_id(*streams)) {
      if (std::ranges::find(keys, key) == keys.end()) { keys.push_back(std::move(key)); }
    }
  }
  return keys;
}

Result<std::string> GpuWorkload::bootstrap(const Program& program) {
  // Ids are made for what can run alone: the library waits behind each of them.
  if (Status accepted = accepts(program); !accepted) { return accepted.error(); }
  const Result<std::vector<CommKey>> keys = without_id(program);
  return keys ? on_devices_->new_ids(keys->size()) : Result<std::string>(keys.error());
}

Status GpuWorkload::join(const Program& program, std::string_view ids) {
  if (Status accepted = accepts(program); !accepted) { return accepted; }
  const Result<std::vector<CommKey>> keys = without_id(program);
  if (!keys) { return keys.error(); }
  if (ids.size() != keys->size() * sizeof(UniqueId)) {
    return failed("rank 0 gives ids of other communicators than this rank needs");
  }
  for (const CommKey& key : *keys) {
    UniqueId id;
    std::memcpy(&id, ids.data(), sizeof id);
    ids.remove_prefix(sizeof id);
    if (Status given = on_devices_->give_id(key, id); !given) { return given; }
  }
  return {};
}

Status GpuWorkload::verify(const Program& program) {
  // The first run of anything writes the outputs too: it comes before they are poisoned.
  if (Status warmed = warm(program); !warmed) { return warmed; }
  if (Status verified = verify_warmed(program); !verified) { return verified; }
  const Program others = hidden(program);
  return others.launches.empty() ? Status() : verify_warmed(others);
}

Status GpuWorkload::verify_warmed(const Program& program) {
  std::set<int> operations;
  for (const Launch& launch : program.launches) { operations.insert(launch.operation); }
  for (const int at : operations) {
    if (Status poisoned = on_devices_->poison(at); !poisoned) { return poisoned; }
  }
  if (const Result<Microseconds> ran = run_warmed(program); !ran) { return ran.error(); }
  for (const int at : operations) {
    if (Status verified = on_devices_->verify(at); !verified) { return verified; }
  }
  return {};
}

}  // namespace elbowroom::gpu
