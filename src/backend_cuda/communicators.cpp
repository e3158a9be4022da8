#include "backend_cuda/communicators.hpp"

#include "backend_cuda/handles.hpp"

namespace headroom::cuda {

Result<Communicators> Communicators::make(const NcclLibrary& nccl, int ranks, const CommBudget& budget) {
  NcclUniqueId id;
  if (Status got = nccl.check(nccl.functions.get_unique_id(&id), "ncclGetUniqueId"); !got) return got.error();

  NcclConfig config;
  if (budget.comm_blocks) {
    config.min_ctas = static_cast<int>(budget.comm_blocks->count());
    config.max_ctas = config.min_ctas;
  }
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
  Communicators made(nccl);
  for (NcclComm comm : comms) {
    if (comm != nullptr) made.comms_.push_back(comm);
  }
  if (!status) return status.error();
  if (!ended) return ended.error();
  return made;
}

Communicators::~Communicators() {
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

}  // namespace headroom::cuda
