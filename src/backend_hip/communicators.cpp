#include "backend_hip/communicators.hpp"

namespace elbowroom::hip {
namespace {

Status init_rank(const RcclLibrary& rccl, RcclComm& comm, int ranks, const RcclUniqueId& id, int rank,
                 const std::optional<Blocks>& comm_blocks) {
  if (!comm_blocks) return rccl.check(rccl.functions.comm_init_rank(&comm, ranks, id, rank), "ncclCommInitRank");
  RcclConfig config;
  config.min_ctas = static_cast<int>(comm_blocks->count());
  config.max_ctas = config.min_ctas;
  return rccl.check(rccl.functions.comm_init_rank_config(&comm, ranks, id, rank, &config), "ncclCommInitRankConfig");
}

}  // namespace

Result<Communicators> Communicators::make(const HipLibrary& hip, const RcclLibrary& rccl, int ranks,
                                          const std::optional<Blocks>& comm_blocks) {
  RcclUniqueId id;
  if (Status got = rccl.check(rccl.functions.get_unique_id(&id), "ncclGetUniqueId"); !got) return got.error();

  std::vector<RcclComm> comms(static_cast<std::size_t>(ranks), nullptr);
  Status status = rccl.check(rccl.functions.group_start(), "ncclGroupStart");
  for (int rank = 0; rank < ranks && status; ++rank) {
    status = hip.use_device(rank);
    if (status) status = init_rank(rccl, comms[static_cast<std::size_t>(rank)], ranks, id, rank, comm_blocks);
  }
  // The group is ended in any case: an open one would swallow every later call.
  const Status ended = rccl.check(rccl.functions.group_end(), "ncclGroupEnd (communicator initialisation)");
  Communicators made(rccl);
  for (RcclComm comm : comms) {
    if (comm != nullptr) made.comms_.push_back(comm);
  }
  if (!status) return status.error();
  if (!ended) return ended.error();
  return made;
}

Communicators::~Communicators() {
  for (RcclComm comm : comms_) static_cast<void>(rccl_->functions.comm_destroy(comm));
}

Status Communicators::asynchronous_error() const {
  for (RcclComm comm : comms_) {
    int error = kRcclSuccess;
    if (Status asked = rccl_->check(rccl_->functions.comm_get_async_error(comm, &error), "ncclCommGetAsyncError"); !asked) {
      return asked;
    }
    if (Status met = rccl_->check(error, "RCCL, asynchronously,"); !met) return met;
  }
  return {};
}

void Communicators::abort() {
  for (RcclComm comm : comms_) static_cast<void>(rccl_->functions.comm_abort(comm));
  comms_.clear();
}

}  // namespace elbowroom::hip
