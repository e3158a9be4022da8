#include "backend_gpu/communicators.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <future>
#include <thread>

#include "plan/control_name.hpp"

namespace elbowroom::gpu {
namespace {

CommConfig config_of(const CommBudget& budget) {
  CommConfig config;
  if (budget.comm_blocks) {
    config.min_ctas = static_cast<int>(budget.comm_blocks->count());
    config.max_ctas = config.min_ctas;
  }
  if (budget.copy_engine) { config.use_copy_engines(); }
  if (budget.cluster) { config.cga_cluster_size = *budget.cluster; }
  return config;
}

Status init_rank(const CommLibrary& library, CommHandle& comm, int ranks, const UniqueId& id, int rank, const CommBudget& budget) {
  const bool asks = budget.comm_blocks || budget.cluster || budget.copy_engine;
  if (!asks) { return library.call(library.calls.comm_init_rank, &comm, ranks, id, rank); }
  CommConfig config = config_of(budget);
  return library.call(library.calls.comm_init_rank_config, &comm, ranks, id, rank, &config);
}

}  // namespace

Result<Communicators> Communicators::make(const Runtime& runtime, std::shared_ptr<const CommLibrary> library, const Group& group,
                                          const CommBudget& budget, const UniqueId& id, std::chrono::milliseconds limit) {
  if (group.is_here()) { return make_now(runtime, std::move(library), group, budget, id); }
  // The library waits for the other processes as long as it takes, so it does that on a thread of its own.
  std::packaged_task<Result<Communicators>()> task(
      [&runtime, library, group, budget, id] { return make_now(runtime, library, group, budget, id); });
  std::future<Result<Communicators>> made = task.get_future();
  std::thread(std::move(task)).detach();
  if (made.wait_for(limit) == std::future_status::ready) { return made.get(); }
  return failed(fmt::format("the communicator of ranks {} is not there after the time limit of {:.3f} s: one of them has not come",
                            fmt::join(group.ranks, ", "), std::chrono::duration<double>(limit).count()));
}

Result<Communicators> Communicators::make_now(const Runtime& runtime, std::shared_ptr<const CommLibrary> kept, const Group& group,
                                              const CommBudget& budget, const UniqueId& id) {
  const CommLibrary& library = *kept;
  std::vector<CommHandle> comms(group.here.size(), nullptr);
  Status status = library.call(library.calls.group_start);
  for (std::size_t at = 0; at < comms.size() && status; ++at) {
    status = runtime.use_device(group.here[at].device);
    if (status) { status = init_rank(library, comms[at], group.size(), id, group.here[at].rank, budget); }
  }
  // The group is ended in any case: an open one would swallow every later call.
  const Status ended = library.check(library.calls.group_end.function(), "ncclGroupEnd (communicator initialisation)");
  Communicators made(std::move(kept));
  for (CommHandle comm : comms) {
    if (comm != nullptr) { made.comms_.push_back(comm); }
  }
  if (!status) { return status.error(); }
  if (!ended) { return ended.error(); }
  return made;
}

Status Communicators::register_symmetric(const std::vector<void*>& memory, Bytes size) {
  const CommCalls& calls = library_->calls;
  std::vector<WindowHandle> windows(comms_.size(), nullptr);
  const auto bytes = static_cast<std::size_t>(size.count());
  if (Status begun = library_->call(calls.group_start); !begun) { return begun; }
  Status status;
  for (std::size_t rank = 0; rank < comms_.size() && status; ++rank) {
    status = library_->call(calls.window_register, comms_[rank], memory[rank], bytes, &windows[rank], kWindowSymmetric);
  }
  Status ended = library_->check(calls.group_end.function(), "ncclGroupEnd (window registration)");
  for (std::size_t rank = 0; rank < comms_.size(); ++rank) {
    if (windows[rank] != nullptr) { windows_.emplace_back(comms_[rank], windows[rank]); }
  }
  if (!status) { return status; }
  if (!ended) { return ended; }
  if (windows_.empty()) {
    return unavailable(fmt::format("{} and {}: {} registers no memory with its peers on these links",
                                   elbowroom::detail::name_of<&OverlapPlan::copy_engine>(),
                                   elbowroom::detail::name_of<&OverlapPlan::symmetric>(), library_->name()));
  }
  return {};
}

Communicators::~Communicators() {
  if (comms_.empty()) { return; }
  for (const auto& [comm, window] : windows_) { static_cast<void>(library_->calls.window_deregister.function(comm, window)); }
  for (CommHandle comm : comms_) { static_cast<void>(library_->calls.comm_destroy.function(comm)); }
}

Status Communicators::asynchronous_error() const {
  for (CommHandle comm : comms_) {
    int error = kCommSuccess;
    if (Status asked = library_->call(library_->calls.comm_get_async_error, comm, &error); !asked) { return asked; }
    if (Status met = library_->check(error, fmt::format("{}, asynchronously,", library_->name())); !met) { return met; }
  }
  return {};
}

void Communicators::abort() {
  for (CommHandle comm : comms_) { static_cast<void>(library_->calls.comm_abort.function(comm)); }
  comms_.clear();
}

}  // namespace elbowroom::gpu
