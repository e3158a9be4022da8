#include "backend_hip/collective.hpp"

#include <fmt/format.h>

#include "backend_hip/data_kernels.hpp"

namespace elbowroom::hip {
namespace {

int rccl_type(DataType dtype) { return dtype == DataType::f32 ? kRcclFloat32 : kRcclBfloat16; }

}  // namespace

Result<CollectiveBuffers> CollectiveBuffers::make(DeviceCode& code, const Collective& collective, int gpus, std::uint64_t seed) {
  CollectiveBuffers buffers(code, collective, gpus, seed);
  for (int rank = 0; rank < gpus; ++rank) {
    if (Status added = buffers.add_rank(rank); !added) return added.error();
  }
  if (Status poisoned = buffers.poison(); !poisoned) return poisoned.error();
  return buffers;
}

Status CollectiveBuffers::add_rank(int rank) {
  if (Status used = code_->hip().use_device(rank); !used) return used;
  const BufferSizes sizes = buffer_sizes(collective_, gpus_);
  Rank made;
  for (const auto& [memory, size] : {std::pair{&made.send, sizes.send}, {&made.recv, sizes.recv}}) {
    Result<Memory> allocated = allocate(code_->hip(), size);
    if (!allocated) {
      return Error{allocated.error().kind, fmt::format("collective.bytes on GPU {}: {}", rank, allocated.error().message)};
    }
    *memory = std::move(*allocated);
  }
  const std::int64_t count = sizes.send / size_of(collective_.dtype);
  if (Status filled = fill_collective(*code_, rank, made.send.get(), count, collective_.dtype, seed_); !filled) return filled;
  ranks_.push_back(std::move(made));
  return {};
}

Status CollectiveBuffers::enqueue(const RcclLibrary& rccl, const Communicators& comms,
                                  const std::vector<HipStream>& streams) const {
  if (Status begun = rccl.check(rccl.functions.group_start(), "ncclGroupStart"); !begun) return begun;
  Status status;
  for (int rank = 0; rank < gpus_ && status; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    status = enqueue_rank(rccl, ranks_[at], comms.rank(rank), streams[at]);
  }
  const Status ended = rccl.check(rccl.functions.group_end(), "ncclGroupEnd");
  return status ? ended : status;
}

Status CollectiveBuffers::enqueue_rank(const RcclLibrary& rccl, const Rank& rank, RcclComm comm, HipStream stream) const {
  const RcclLibrary::Functions& call = rccl.functions;
  const int type = rccl_type(collective_.dtype);
  const auto whole = static_cast<std::size_t>(collective_.bytes / size_of(collective_.dtype));
  const std::size_t share = whole / static_cast<std::size_t>(gpus_);
  const void* const send = rank.send.get();
  void* const recv = rank.recv.get();
  switch (collective_.op) {
    case CollectiveOp::all_reduce:
      return rccl.check(call.all_reduce(send, recv, whole, type, kRcclSum, comm, stream), "ncclAllReduce");
    case CollectiveOp::all_gather:
      return rccl.check(call.all_gather(send, recv, share, type, comm, stream), "ncclAllGather");
    case CollectiveOp::reduce_scatter:
      return rccl.check(call.reduce_scatter(send, recv, share, type, kRcclSum, comm, stream), "ncclReduceScatter");
    case CollectiveOp::all_to_all:
      break;
  }
  return enqueue_exchange(rccl, rank, comm, stream);
}

Status CollectiveBuffers::enqueue_exchange(const RcclLibrary& rccl, const Rank& rank, RcclComm comm, HipStream stream) const {
  const RcclLibrary::Functions& call = rccl.functions;
  const int type = rccl_type(collective_.dtype);
  const auto share = static_cast<std::size_t>(collective_.bytes / size_of(collective_.dtype)) / static_cast<std::size_t>(gpus_);
  const std::size_t step = share * static_cast<std::size_t>(size_of(collective_.dtype).count());
  for (int peer = 0; peer < gpus_; ++peer) {
    const std::size_t at = step * static_cast<std::size_t>(peer);
    const char* const from = static_cast<const char*>(rank.send.get()) + at;
    char* const to = static_cast<char*>(rank.recv.get()) + at;
    if (Status sent = rccl.check(call.send(from, share, type, peer, comm, stream), "ncclSend"); !sent) return sent;
    if (Status received = rccl.check(call.recv(to, share, type, peer, comm, stream), "ncclRecv"); !received) return received;
  }
  return {};
}

Status CollectiveBuffers::poison() const {
  const BufferSizes sizes = buffer_sizes(collective_, gpus_);
  for (int rank = 0; rank < gpus_; ++rank) {
    const Status done = hip::poison(code_->hip(), rank, ranks_[static_cast<std::size_t>(rank)].recv.get(), sizes.recv);
    if (!done) return done;
  }
  return {};
}

Status CollectiveBuffers::verify() const {
  const std::int64_t count = buffer_sizes(collective_, gpus_).recv / size_of(collective_.dtype);
  for (int rank = 0; rank < gpus_; ++rank) {
    const CollectiveCheck expected{collective_.op, collective_.dtype, rank, gpus_, count, seed_};
    const void* received = ranks_[static_cast<std::size_t>(rank)].recv.get();
    const Status verified = run_check(code_->hip(), rank, fmt::format("{} result", to_string(collective_.op)), "elements", count,
                                      [&](Mismatches* out) { return check_collective(*code_, received, expected, out); });
    if (!verified) return verified;
  }
  return {};
}

}  // namespace elbowroom::hip
