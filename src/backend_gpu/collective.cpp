#include "backend_gpu/collective.hpp"

#include <fmt/format.h>

#include <utility>

#include "backend_gpu/data_kernels.hpp"

namespace elbowroom::gpu {

Result<CollectiveBuffers> CollectiveBuffers::make(Platform& platform, const CommLibrary& comm, const Collective& collective,
                                                  int gpus, std::uint64_t seed) {
  CollectiveBuffers buffers(platform, comm, collective, gpus, seed);
  for (int rank = 0; rank < gpus; ++rank) {
    if (Status added = buffers.add_rank(rank); !added) return added.error();
  }
  if (Status poisoned = buffers.poison(); !poisoned) return poisoned.error();
  return buffers;
}

Status CollectiveBuffers::add_rank(int rank) {
  const Runtime& runtime = platform_->runtime();
  if (Status used = runtime.use_device(rank); !used) return used;
  const BufferSizes sizes = buffer_sizes(collective_, gpus_);
  Rank made;
  for (const auto& [memory, size] : {std::pair{&made.send, sizes.send}, {&made.recv, sizes.recv}}) {
    Result<Memory> allocated = comm_->allocate(runtime, size);
    if (!allocated) {
      return Error{allocated.error().kind, fmt::format("collective.bytes on GPU {}: {}", rank, allocated.error().message)};
    }
    *memory = std::move(*allocated);
  }
  const std::int64_t count = sizes.send / size_of(collective_.dtype);
  if (Status filled = fill_collective(*platform_, rank, made.send.get(), count, collective_.dtype, seed_); !filled) return filled;
  ranks_.push_back(std::move(made));
  return {};
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

Result<PeerCopies> CollectiveBuffers::as_peer_copies() const {
  std::vector<PeerCopies::Rank> ranks;
  ranks.reserve(ranks_.size());
  for (const Rank& rank : ranks_) ranks.push_back({rank.send.get(), rank.recv.get()});
  return PeerCopies::make(platform_->runtime(), *comm_, collective_.op, collective_.bytes / gpus_, std::move(ranks));
}

Status CollectiveBuffers::enqueue(const CommRoute& route, const std::vector<StreamHandle>& streams) const {
  if (Status begun = enqueue_begin(route, streams); !begun) return begun;
  return enqueue_rest(route, streams);
}

Status CollectiveBuffers::enqueue_begin(const CommRoute& route, const std::vector<StreamHandle>& streams) const {
  if (route.detour != nullptr) return route.detour->enqueue(streams);
  if (route.engines == nullptr) return enqueue_group(*route.sms, streams, &CollectiveBuffers::whole);
  if (route.sms == nullptr) {
    const bool exchanges = collective_.op == CollectiveOp::all_to_all;
    return enqueue_group(*route.engines, streams, exchanges ? &CollectiveBuffers::exchange_at_once : &CollectiveBuffers::whole);
  }
  return enqueue_group(*route.sms, streams, &CollectiveBuffers::scatter_sums);
}

Status CollectiveBuffers::enqueue_rest(const CommRoute& route, const std::vector<StreamHandle>& streams) const {
  if (route.engines == nullptr || route.sms == nullptr) return {};
  return enqueue_group(*route.engines, streams, &CollectiveBuffers::gather_sums);
}

Status CollectiveBuffers::enqueue_group(const Communicators& comms, const std::vector<StreamHandle>& streams, RankCall each) const {
  if (Status begun = comm_->call(comm_->calls.group_start); !begun) return begun;
  Status status;
  for (int rank = 0; rank < gpus_ && status; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    status = (this->*each)({ranks_[at], rank, comms.rank(rank), streams[at]});
  }
  const Status ended = comm_->call(comm_->calls.group_end);
  return status ? ended : status;
}

std::size_t CollectiveBuffers::elements() const { return static_cast<std::size_t>(collective_.bytes / size_of(collective_.dtype)); }

std::size_t CollectiveBuffers::share() const { return elements() / static_cast<std::size_t>(gpus_); }

int CollectiveBuffers::type() const { return collective_.dtype == DataType::f32 ? kCommFloat32 : kCommBfloat16; }

Status CollectiveBuffers::whole(const Call& rank) const {
  const CommCalls& calls = comm_->calls;
  const void* const send = rank.rank.send.get();
  void* const recv = rank.rank.recv.get();
  switch (collective_.op) {
    case CollectiveOp::all_reduce:
      return comm_->call(calls.all_reduce, send, recv, elements(), type(), kCommSum, rank.comm, rank.stream);
    case CollectiveOp::all_gather:
      return comm_->call(calls.all_gather, send, recv, share(), type(), rank.comm, rank.stream);
    case CollectiveOp::reduce_scatter:
      return comm_->call(calls.reduce_scatter, send, recv, share(), type(), kCommSum, rank.comm, rank.stream);
    case CollectiveOp::all_to_all:
      break;
  }
  return exchange(rank);
}

// As every version has it.
Status CollectiveBuffers::exchange(const Call& rank) const {
  const CommCalls& calls = comm_->calls;
  const auto* const send = static_cast<const char*>(rank.rank.send.get());
  auto* const recv = static_cast<char*>(rank.rank.recv.get());
  const std::size_t step = share() * static_cast<std::size_t>(size_of(collective_.dtype).count());
  for (int peer = 0; peer < gpus_; ++peer) {
    const std::size_t at = step * static_cast<std::size_t>(peer);
    if (Status sent = comm_->call(calls.send, send + at, share(), type(), peer, rank.comm, rank.stream); !sent) return sent;
    if (Status received = comm_->call(calls.recv, recv + at, share(), type(), peer, rank.comm, rank.stream); !received) {
      return received;
    }
  }
  return {};
}

// Copy engines can be given this call, unlike sends and receives.
Status CollectiveBuffers::exchange_at_once(const Call& rank) const {
  return comm_->call(comm_->calls.all_to_all, rank.rank.send.get(), rank.rank.recv.get(), share(), type(), rank.comm, rank.stream);
}

Status CollectiveBuffers::scatter_sums(const Call& rank) const {
  return comm_->call(comm_->calls.reduce_scatter, rank.rank.send.get(), own_share(rank), share(), type(), kCommSum, rank.comm,
                     rank.stream);
}

Status CollectiveBuffers::gather_sums(const Call& rank) const {
  return comm_->call(comm_->calls.all_gather, own_share(rank), rank.rank.recv.get(), share(), type(), rank.comm, rank.stream);
}

void* CollectiveBuffers::own_share(const Call& rank) const {
  const std::size_t bytes = share() * static_cast<std::size_t>(size_of(collective_.dtype).count());
  return static_cast<char*>(rank.rank.recv.get()) + bytes * static_cast<std::size_t>(rank.index);
}

Status CollectiveBuffers::poison() const {
  const BufferSizes sizes = buffer_sizes(collective_, gpus_);
  for (int rank = 0; rank < gpus_; ++rank) {
    const Status done = gpu::poison(platform_->runtime(), rank, ranks_[static_cast<std::size_t>(rank)].recv.get(), sizes.recv);
    if (!done) return done;
  }
  return {};
}

Status CollectiveBuffers::verify() const {
  const std::int64_t count = buffer_sizes(collective_, gpus_).recv / size_of(collective_.dtype);
  for (int rank = 0; rank < gpus_; ++rank) {
    const CollectiveCheck expected{collective_.op, collective_.dtype, rank, gpus_, count, seed_};
    const void* received = ranks_[static_cast<std::size_t>(rank)].recv.get();
    const Status verified =
        run_check(platform_->runtime(), rank, fmt::format("{} result", to_string(collective_.op)), "elements", count,
                  [&](Mismatches* out) { return check_collective(*platform_, received, expected, out); });
    if (!verified) return verified;
  }
  return {};
}

}  // namespace elbowroom::gpu
