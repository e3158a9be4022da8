#include "backend_cuda/collective.hpp"

#include <fmt/format.h>

#include <utility>

#include "backend_cuda/checking.hpp"
#include "backend_cuda/data_kernels.hpp"

namespace elbowroom::cuda {
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

Status asynchronous_error(const CommRoute& route) {
  for (const Communicators* communicators : {route.sms, route.engines}) {
    if (communicators == nullptr) continue;
    if (Status healthy = communicators->asynchronous_error(); !healthy) return healthy;
  }
  return {};
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

Result<PeerCopies> CollectiveBuffers::as_peer_copies(const NcclLibrary& nccl) const {
  std::vector<PeerCopies::Rank> ranks;
  ranks.reserve(ranks_.size());
  for (const Rank& rank : ranks_) ranks.push_back({rank.send.get(), rank.recv.get()});
  return PeerCopies::make(nccl, collective_.op, collective_.bytes / gpus_, std::move(ranks));
}

Status CollectiveBuffers::enqueue(const NcclLibrary& nccl, const CommRoute& route, const std::vector<cudaStream_t>& streams) const {
  if (Status begun = enqueue_begin(nccl, route, streams); !begun) return begun;
  return enqueue_rest(nccl, route, streams);
}

Status CollectiveBuffers::enqueue_begin(const NcclLibrary& nccl, const CommRoute& route,
                                        const std::vector<cudaStream_t>& streams) const {
  if (route.detour != nullptr) return route.detour->enqueue(streams);
  if (route.engines == nullptr) return enqueue_group(nccl, *route.sms, streams, &CollectiveBuffers::whole);
  if (route.sms == nullptr) {
    const bool exchanges = collective_.op == CollectiveOp::all_to_all;
    return enqueue_group(nccl, *route.engines, streams,
                         exchanges ? &CollectiveBuffers::exchange_at_once : &CollectiveBuffers::whole);
  }
  return enqueue_group(nccl, *route.sms, streams, &CollectiveBuffers::scatter_sums);
}

Status CollectiveBuffers::enqueue_rest(const NcclLibrary& nccl, const CommRoute& route,
                                       const std::vector<cudaStream_t>& streams) const {
  if (route.engines == nullptr || route.sms == nullptr) return {};
  return enqueue_group(nccl, *route.engines, streams, &CollectiveBuffers::gather_sums);
}

Status CollectiveBuffers::enqueue_group(const NcclLibrary& nccl, const Communicators& comms,
                                        const std::vector<cudaStream_t>& streams, RankCall each) const {
  if (Status begun = nccl.check(nccl.functions.group_start(), "ncclGroupStart"); !begun) return begun;
  Status status;
  for (int rank = 0; rank < gpus_ && status; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    status = (this->*each)({nccl, ranks_[at], rank, comms.rank(rank), streams[at]});
  }
  const Status ended = nccl.check(nccl.functions.group_end(), "ncclGroupEnd");
  return status ? ended : status;
}

std::size_t CollectiveBuffers::elements() const { return static_cast<std::size_t>(collective_.bytes / size_of(collective_.dtype)); }

std::size_t CollectiveBuffers::share() const { return elements() / static_cast<std::size_t>(gpus_); }

Status CollectiveBuffers::whole(const Call& rank) const {
  const NcclLibrary::Functions& call = rank.nccl.functions;
  const int type = nccl_type(collective_.dtype);
  const void* const send = rank.rank.send.get();
  void* const recv = rank.rank.recv.get();
  switch (collective_.op) {
    case CollectiveOp::all_reduce:
      return rank.nccl.check(call.all_reduce(send, recv, elements(), type, kNcclSum, rank.comm, rank.stream), "ncclAllReduce");
    case CollectiveOp::all_gather:
      return rank.nccl.check(call.all_gather(send, recv, share(), type, rank.comm, rank.stream), "ncclAllGather");
    case CollectiveOp::reduce_scatter:
      return rank.nccl.check(call.reduce_scatter(send, recv, share(), type, kNcclSum, rank.comm, rank.stream), "ncclReduceScatter");
    case CollectiveOp::all_to_all:
      break;
  }
  return exchange(rank);
}

Status CollectiveBuffers::exchange(const Call& rank) const {
  const NcclLibrary::Functions& call = rank.nccl.functions;
  const int type = nccl_type(collective_.dtype);
  const auto* const send = static_cast<const char*>(rank.rank.send.get());
  auto* const recv = static_cast<char*>(rank.rank.recv.get());
  const std::size_t step = share() * static_cast<std::size_t>(size_of(collective_.dtype).count());
  for (int peer = 0; peer < gpus_; ++peer) {
    const std::size_t at = step * static_cast<std::size_t>(peer);
    if (Status sent = rank.nccl.check(call.send(send + at, share(), type, peer, rank.comm, rank.stream), "ncclSend"); !sent) {
      return sent;
    }
    if (Status received = rank.nccl.check(call.recv(recv + at, share(), type, peer, rank.comm, rank.stream), "ncclRecv");
        !received) {
      return received;
    }
  }
  return {};
}

// Copy engines can be given this call, unlike sends and receives.
Status CollectiveBuffers::exchange_at_once(const Call& rank) const {
  return rank.nccl.check(rank.nccl.functions.all_to_all(rank.rank.send.get(), rank.rank.recv.get(), share(),
                                                        nccl_type(collective_.dtype), rank.comm, rank.stream),
                         "ncclAlltoAll");
}

Status CollectiveBuffers::scatter_sums(const Call& rank) const {
  return rank.nccl.check(rank.nccl.functions.reduce_scatter(rank.rank.send.get(), own_share(rank), share(),
                                                            nccl_type(collective_.dtype), kNcclSum, rank.comm, rank.stream),
                         "ncclReduceScatter");
}

Status CollectiveBuffers::gather_sums(const Call& rank) const {
  return rank.nccl.check(rank.nccl.functions.all_gather(own_share(rank), rank.rank.recv.get(), share(),
                                                        nccl_type(collective_.dtype), rank.comm, rank.stream),
                         "ncclAllGather");
}

void* CollectiveBuffers::own_share(const Call& rank) const {
  const std::size_t bytes = share() * static_cast<std::size_t>(size_of(collective_.dtype).count());
  return static_cast<char*>(rank.rank.recv.get()) + bytes * static_cast<std::size_t>(rank.index);
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

}  // namespace elbowroom::cuda
