#include "backend_cuda/collective.hpp"

#include <fmt/format.h>

#include "backend_cuda/checking.hpp"
#include "backend_cuda/data_kernels.hpp"

namespace headroom::cuda {
namespace {

int nccl_type(DataType dtype) { return dtype == DataType::f32 ? kNcclFloat32 : kNcclBfloat16; }

}  // namespace

Result<CollectiveBuffers> CollectiveBuffers::make(const NcclLibrary& nccl, const Collective& collective, int gpus,
                                                  std::uint64_t seed) {
  CollectiveBuffers buffers(collective, gpus, seed);
  const BufferSizes sizes = buffer_sizes(collective, gpus);
  for (int device = 0; device < gpus; ++device) {
    if (Status used = use_device(device); !used) return used.error();
    Result<CollectiveMemory> send = nccl.allocate(sizes.send);
    if (!send) return Error{send.error().kind, fmt::format("collective.bytes on GPU {}: {}", device, send.error().message)};
    Result<CollectiveMemory> recv = nccl.allocate(sizes.recv);
    if (!recv) return Error{recv.error().kind, fmt::format("collective.bytes on GPU {}: {}", device, recv.error().message)};
    const std::int64_t count = sizes.send / size_of(collective.dtype);
    if (Status filled = fill_collective(send->get(), count, collective.dtype, device, seed, nullptr); !filled)
      return filled.error();
    buffers.ranks_.push_back({std::move(*send), std::move(*recv)});
  }
  if (Status poisoned = buffers.poison(); !poisoned) return poisoned.error();
  return buffers;
}

Status CollectiveBuffers::register_with(Communicators& comms) const {
  const BufferSizes sizes = buffer_sizes(collective_, gpus_);
  std::vector<void*> send;
  std::vector<void*> recv;
  for (const Rank& rank : ranks_) {
    send.push_back(rank.send.get());
    recv.push_back(rank.recv.get());
  }
  if (Status registered = comms.register_windows(send, sizes.send); !registered) return registered;
  return comms.register_windows(recv, sizes.recv);
}

Status CollectiveBuffers::enqueue(const NcclLibrary& nccl, const Communicators& comms,
                                  const std::vector<cudaStream_t>& streams) const {
  if (Status begun = nccl.check(nccl.functions.group_start(), "ncclGroupStart"); !begun) return begun;
  Status status;
  for (int rank = 0; rank < gpus_ && status; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    status = comms.budget().copy_engine && collective_.op == CollectiveOp::all_to_all
                 ? enqueue_whole_exchange(nccl, ranks_[at], comms.rank(rank), streams[at])
                 : enqueue_rank(nccl, ranks_[at], comms.rank(rank), streams[at]);
  }
  const Status ended = nccl.check(nccl.functions.group_end(), "ncclGroupEnd");
  return status ? ended : status;
}

Status CollectiveBuffers::enqueue_rank(const NcclLibrary& nccl, const Rank& rank, NcclComm comm, cudaStream_t stream) const {
  const NcclLibrary::Functions& call = nccl.functions;
  const int type = nccl_type(collective_.dtype);
  const auto whole = static_cast<std::size_t>(collective_.bytes / size_of(collective_.dtype));
  const std::size_t share = whole / static_cast<std::size_t>(gpus_);
  const void* const send = rank.send.get();
  void* const recv = rank.recv.get();
  switch (collective_.op) {
    case CollectiveOp::all_reduce:
      return nccl.check(call.all_reduce(send, recv, whole, type, kNcclSum, comm, stream), "ncclAllReduce");
    case CollectiveOp::all_gather:
      return nccl.check(call.all_gather(send, recv, share, type, comm, stream), "ncclAllGather");
    case CollectiveOp::reduce_scatter:
      return nccl.check(call.reduce_scatter(send, recv, share, type, kNcclSum, comm, stream), "ncclReduceScatter");
    case CollectiveOp::all_to_all:
      break;
  }
  const std::size_t step = share * static_cast<std::size_t>(size_of(collective_.dtype).count());
  for (int peer = 0; peer < gpus_; ++peer) {
    const std::size_t at = step * static_cast<std::size_t>(peer);
    if (Status sent = nccl.check(call.send(static_cast<const char*>(send) + at, share, type, peer, comm, stream), "ncclSend");
        !sent) {
      return sent;
    }
    if (Status received = nccl.check(call.recv(static_cast<char*>(recv) + at, share, type, peer, comm, stream), "ncclRecv");
        !received) {
      return received;
    }
  }
  return {};
}

Status CollectiveBuffers::enqueue_whole_exchange(const NcclLibrary& nccl, const Rank& rank, NcclComm comm,
                                                 cudaStream_t stream) const {
  const auto whole = static_cast<std::size_t>(collective_.bytes / size_of(collective_.dtype));
  return nccl.check(nccl.functions.all_to_all(rank.send.get(), rank.recv.get(), whole / static_cast<std::size_t>(gpus_),
                                              nccl_type(collective_.dtype), comm, stream),
                    "ncclAlltoAll");
}

Status CollectiveBuffers::poison() {
  const BufferSizes sizes = buffer_sizes(collective_, gpus_);
  for (int device = 0; device < gpus_; ++device) {
    if (Status used = use_device(device); !used) return used;
    if (Status done = cuda::poison(ranks_[static_cast<std::size_t>(device)].recv.get(), sizes.recv, nullptr); !done) return done;
    if (Status idle = check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); !idle) return idle;
  }
  return {};
}

Status CollectiveBuffers::verify() const {
  const std::int64_t count = buffer_sizes(collective_, gpus_).recv / size_of(collective_.dtype);
  for (int device = 0; device < gpus_; ++device) {
    const CollectiveCheck expected{collective_.op, collective_.dtype, device, gpus_, count, seed_};
    const void* received = ranks_[static_cast<std::size_t>(device)].recv.get();
    const Status verified = run_check(device, fmt::format("{} result", to_string(collective_.op)), "elements", count,
                                      [&](Mismatches* out) { return check_collective(received, expected, out, nullptr); });
    if (!verified) return verified;
  }
  return {};
}

}  // namespace headroom::cuda
