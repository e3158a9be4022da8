#include "backend_gpu/collective.hpp"

#include <fmt/format.h>

#include <utility>

#include "backend_gpu/data_kernels.hpp"

namespace elbowroom::gpu {

Result<CollectiveBuffers> CollectiveBuffers::make(Platform& platform, const CommLibrary& comm, const Collective& collective,
                                                  const Group& group, std::uint64_t seed) {
  CollectiveBuffers buffers(platform, comm, collective, group, seed);
  for (const Group::Member& member : group.here) {
    if (Status added = buffers.add_rank(member); !added) { return added.error(); }
  }
  if (Status poisoned = buffers.poison(); !poisoned) { return poisoned.error(); }
  return buffers;
}

Status CollectiveBuffers::add_rank(const Group::Member& member) {
  const Runtime& runtime = platform_->runtime();
  const int device = member.device;
  if (Status used = runtime.use_device(device); !used) { return used; }
  Rank made;
  made.data = facts_of(collective_.op).data(collective_, group_.size(), member.rank);
  for (const auto& [memory, count] : {std::pair{&made.send, made.data.sent}, {&made.recv, made.data.received}}) {
    if (count == 0) { continue; }
    Result<Memory> allocated = comm_->allocate(runtime, size_of(collective_.dtype) * count);
    if (!allocated) {
      return Error{allocated.error().kind, fmt::format("collective.bytes on GPU {}: {}", device, allocated.error().message)};
    }
    *memory = std::move(*allocated);
  }
  if (made.data.sent > 0) {
    const Status filled =
        fill_collective(*platform_, device, member.rank, made.send.get(), made.data.sent, collective_.dtype, seed_);
    if (!filled) { return filled; }
  }
  ranks_.push_back(std::move(made));
  return {};
}

Status asynchronous_error(const CommRoute& route) {
  for (const Communicators* communicators : {route.sms, route.engines}) {
    if (communicators == nullptr) { continue; }
    if (Status healthy = communicators->asynchronous_error(); !healthy) { return healthy; }
  }
  return {};
}

Status CollectiveBuffers::register_with(Communicators& comms) const {
  // Whatever has kernels on symmetric memory or goes by copy engines has buffers of one size on every rank.
  const BufferSizes sizes = buffer_sizes(collective_, group_.size());
  std::vector<void*> send;
  std::vector<void*> recv;
  for (const Rank& rank : ranks_) {
    send.push_back(rank.send.get());
    recv.push_back(rank.recv.get());
  }
  if (Status registered = comms.register_symmetric(send, sizes.send); !registered) { return registered; }
  return comms.register_symmetric(recv, sizes.recv);
}

Result<PeerCopies> CollectiveBuffers::as_peer_copies() const {
  std::vector<PeerCopies::Rank> ranks;
  ranks.reserve(ranks_.size());
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    ranks.push_back({group_.here[rank].device, ranks_[rank].send.get(), ranks_[rank].recv.get()});
  }
  return PeerCopies::make(platform_->runtime(), *comm_, collective_.op, collective_.bytes / group_.size(), std::move(ranks));
}

Status CollectiveBuffers::enqueue(const CommRoute& route, const std::vector<StreamHandle>& streams) const {
  if (Status begun = enqueue_begin(route, streams); !begun) { return begun; }
  return enqueue_rest(route, streams);
}

Status CollectiveBuffers::enqueue_begin(const CommRoute& route, const std::vector<StreamHandle>& streams) const {
  if (route.detour != nullptr) { return route.detour->enqueue(streams); }
  if (route.engines == nullptr) { return enqueue_group(*route.sms, streams, call_whole); }
  if (route.sms == nullptr) {
    return enqueue_group(*route.engines, streams, collective_.op == CollectiveOp::all_to_all ? call_at_once : call_whole);
  }
  return enqueue_group(*route.sms, streams, call_scatter_sums);
}

Status CollectiveBuffers::enqueue_rest(const CommRoute& route, const std::vector<StreamHandle>& streams) const {
  if (route.engines == nullptr || route.sms == nullptr) { return {}; }
  return enqueue_group(*route.engines, streams, call_gather_sums);
}

Status CollectiveBuffers::enqueue_group(const Communicators& comms, const std::vector<StreamHandle>& streams,
                                        Status (*each)(const CallingRank& rank)) const {
  if (Status begun = comm_->call(comm_->calls.group_start); !begun) { return begun; }
  Status status;
  for (std::size_t at = 0; at < ranks_.size() && status; ++at) {
    status = each({*comm_, collective_, group_.size(), group_.here[at].rank, ranks_[at].send.get(), ranks_[at].recv.get(),
                   comms.here(at), streams[at]});
  }
  const Status ended = comm_->call(comm_->calls.group_end);
  return status ? ended : status;
}

Status CollectiveBuffers::poison() const {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (ranks_[rank].data.received == 0) { continue; }
    const Status done = gpu::poison(platform_->runtime(), group_.here[rank].device, ranks_[rank].recv.get(),
                                    size_of(collective_.dtype) * ranks_[rank].data.received);
    if (!done) { return done; }
  }
  return {};
}

Status CollectiveBuffers::verify() const {
  for (std::size_t at = 0; at < ranks_.size(); ++at) {
    const Rank& rank = ranks_[at];
    if (rank.data.received == 0) { continue; }
    const int device = group_.here[at].device;
    const Status verified =
        run_check(platform_->runtime(), device, fmt::format("{} result", to_string(collective_.op)), "elements", rank.data.received,
                  [&](Mismatches* out) {
                    return check_collective(*platform_, device, rank.recv.get(), rank.data, collective_.dtype, seed_, out);
                  });
    if (!verified) { return verified; }
  }
  return {};
}

}  // namespace elbowroom::gpu
