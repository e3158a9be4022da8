#include "backend_cuda/communicators.hpp"

#include "backend_cuda/handles.hpp"

namespace elbowroom::cuda {

Result<Communicators> Communicators::make(const NcclLibrary& nccl, int ranks, const CommBudget& budget) {
  NcclUniqueId id;
  if (Status got = nccl.check(nccl.functions.get_unique_id(&id), "ncclGetUniqueId"); !got) return got.error();

  NcclConfig config;
  if (budget.comm_blocks) {
    config.min_ctas = static_cast<int>(budget.comm_blocks->count());
    config.max_ctas = config.min_ctas;
  }
  if (budget.copy_engine) config.use_copy_engines();
  if (budget.cluster) config.cga_cluster_size = *budget.cluster;

  std::vector<NcclComm> comms(static_cast<std::size_t>(ranks), nullptr);
  Status status = nccl.check(nccl.functions.group_start(), "ncclGroupStart");
  for (int rank = 0; rank < ranks && status; ++rank) {
    status = use_device(rank);
    if (!status) break;
    status = nccl.check(nccl.functions.comm_init_rank_config(&comms[static_cast<std::size_t>(rank)], ranks, id, rank, &config),
                        "ncclCommInitRankConfig");
  }
  // The group is ended in any case: an open one would swallow every later call.
  const Status ended = nccl.check(nccl.functions.group_end(), "ncclGroupEnd (communicator initialisation)");
  Communicators made(nccl, budget);
  for (NcclComm comm : comms) {
    if (comm != nullptr) made.comms_.push_back(comm);
  }
  if (!status) return status.error();
  if (!ended) return ended.error();
  return made;
}

Status Communicators::register_windows(const std::vector<void*>& memory, Bytes size) {
  std::vector<NcclWindow> windows(comms_.size(), nullptr);
  const auto bytes = static_cast<std::size_t>(size.count());
  if (Status begun = nccl_->check(nccl_->functions.group_start(), "ncclGroupStart"); !begun) return begun;
  Status status;
  for (std::size_t rank = 0; rank < comms_.size() && status; ++rank) {
    status = nccl_->check(nccl_->functions.window_register(comms_[rank], memory[rank], bytes, &windows[rank], kNcclWindowSymmetric),
                          "ncclCommWindowRegister");
  }
  Status ended = nccl_->check(nccl_->functions.group_end(), "ncclGroupEnd (window registration)");
  for (std::size_t rank = 0; rank < comms_.size(); ++rank) {
    if (windows[rank] != nullptr) windows_.emplace_back(comms_[rank], windows[rank]);
  }
  if (!status) return status;
  if (!ended) return ended;
  if (windows_.empty()) return unavailable("copy_engine and symmetric: NCCL registers no memory with its peers on these links");
  return {};
}

Communicators::~Communicators() {
  if (comms_.empty()) return;
  for (const auto& [comm, window] : windows_) static_cast<void>(nccl_->functions.window_deregister(comm, window));
  for (NcclComm comm : comms_) static_cast<void>(nccl_->functions.comm_destroy(comm));
}

Status Communicators::asynchronous_error() const {
  for (NcclComm comm : comms_) {
    int error = kNcclSuccess;
    if (Status asked = nccl_->check(nccl_->functions.comm_get_async_error(comm, &error), "ncclCommGetAsyncError"); !asked)
      return asked;
    if (Status met = nccl_->check(error, "NCCL, asynchronously,"); !met) return met;
  }
  return {};
}

void Communicators::abort() {
  for (NcclComm comm : comms_) static_cast<void>(nccl_->functions.comm_abort(comm));
  comms_.clear();
}

}  // namespace elbowroom::cuda
