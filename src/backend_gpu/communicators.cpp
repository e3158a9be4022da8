#include "backend_gpu/communicators.hpp"

#include <fmt/format.h>

namespace elbowroom::gpu {
namespace {

CommConfig config_of(const CommBudget& budget) {
  CommConfig config;
  if (budget.comm_blocks) {
    config.min_ctas = static_cast<int>(budget.comm_blocks->count());
    config.max_ctas = config.min_ctas;
  }
  if (budget.copy_engine) config.use_copy_engines();
  if (budget.cluster) config.cga_cluster_size = *budget.cluster;
  return config;
}

Status init_rank(const CommLibrary& library, CommHandle& comm, int ranks, const UniqueId& id, int rank, const CommBudget& budget) {
  const bool asks = budget.comm_blocks || budget.cluster || budget.copy_engine;
  if (!asks) return library.call(library.calls.comm_init_rank, &comm, ranks, id, rank);
  CommConfig config = config_of(budget);
  return library.call(library.calls.comm_init_rank_config, &comm, ranks, id, rank, &config);
}

}  // namespace

Result<Communicators> Communicators::make(const Runtime& runtime, const CommLibrary& library, const std::vector<int>& devices,
                                          const CommBudget& budget) {
  UniqueId id;
  if (Status got = library.call(library.calls.get_unique_id, &id); !got) return got.error();

  const int ranks = static_cast<int>(devices.size());
  std::vector<CommHandle> comms(devices.size(), nullptr);
  Status status = library.call(library.calls.group_start);
  for (int rank = 0; rank < ranks && status; ++rank) {
    status = runtime.use_device(devices[static_cast<std::size_t>(rank)]);
    if (status) status = init_rank(library, comms[static_cast<std::size_t>(rank)], ranks, id, rank, budget);
  }
  // The group is ended in any case: an open one would swallow every later call.
  const Status ended = library.check(library.calls.group_end.function(), "ncclGroupEnd (communicator initialisation)");
  Communicators made(library);
  for (CommHandle comm : comms) {
    if (comm != nullptr) made.comms_.push_back(comm);
  }
  if (!status) return status.error();
  if (!ended) return ended.error();
  return made;
}

Status Communicators::register_symmetric(const std::vector<void*>& memory, Bytes size) {
  const CommCalls& calls = library_->calls;
  std::vector<WindowHandle> windows(comms_.size(), nullptr);
  const auto bytes = static_cast<std::size_t>(size.count());
  if (Status begun = library_->call(calls.group_start); !begun) return begun;
  Status status;
  for (std::size_t rank = 0; rank < comms_.size() && status; ++rank) {
    status = library_->call(calls.window_register, comms_[rank], memory[rank], bytes, &windows[rank], kWindowSymmetric);
  }
  const Status ended = library_->check(calls.group_end.function(), "ncclGroupEnd (window registration)");
  for (std::size_t rank = 0; rank < comms_.size(); ++rank) {
    if (windows[rank] != nullptr) windows_.emplace_back(comms_[rank], windows[rank]);
  }
  if (!status) return status;
  if (!ended) return ended;
  if (windows_.empty()) {
    return unavailable(
        fmt::format("copy_engine and symmetric: {} registers no memory with its peers on these links", library_->name()));
  }
  return {};
}

Communicators::~Communicators() {
  if (comms_.empty()) return;
  for (const auto& [comm, window] : windows_) static_cast<void>(library_->calls.window_deregister.function(comm, window));
  for (CommHandle comm : comms_) static_cast<void>(library_->calls.comm_destroy.function(comm));
}

Status Communicators::asynchronous_error() const {
  for (CommHandle comm : comms_) {
    int error = kCommSuccess;
    if (Status asked = library_->call(library_->calls.comm_get_async_error, comm, &error); !asked) return asked;
    if (Status met = library_->check(error, fmt::format("{}, asynchronously,", library_->name())); !met) return met;
  }
  return {};
}

void Communicators::abort() {
  for (CommHandle comm : comms_) static_cast<void>(library_->calls.comm_abort.function(comm));
  comms_.clear();
}

}  // namespace elbowroom::gpu
