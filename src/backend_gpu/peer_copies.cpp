#include "backend_gpu/peer_copies.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "plan/control_name.hpp"

namespace elbowroom::gpu {
namespace {

std::size_t after(std::size_t rank, std::size_t step, std::size_t ranks) { return (rank + step) % ranks; }

}  // namespace

PeerCopies::PeerCopies(const Runtime& runtime, CollectiveOp op, Bytes share, std::vector<Rank> ranks)
    : runtime_(&runtime), op_(op), share_(static_cast<std::size_t>(share.count())), ranks_(std::move(ranks)) {}

Result<PeerCopies> PeerCopies::make(const Runtime& runtime, const CommLibrary& comm, CollectiveOp op, Bytes share,
                                    std::vector<Rank> ranks) {
  PeerCopies copies(runtime, op, share, std::move(ranks));
  const std::size_t count = copies.ranks_.size();
  for (std::size_t rank = 0; rank < count; ++rank) {
    if (Status used = copies.use(rank); !used) { return used.error(); }
    for (std::vector<Event>* events : {&copies.ready_, &copies.done_}) {
      Result<Event> made = make_event(runtime, EventUse::ordering);
      if (!made) { return made.error(); }
      events->push_back(std::move(*made));
    }
    if (op != CollectiveOp::all_to_all) { continue; }
    const std::size_t peer = after(rank, 1, count);
    if (Status used = copies.use(peer); !used) { return used.error(); }
    Result<Memory> staged = comm.allocate(runtime, share);
    if (!staged) {
      return unavailable(elbowroom::detail::refusal_of<&OverlapPlan::peer_detour>(
          fmt::format("no memory for a share on GPU {}: {}", copies.ranks_[peer].device, staged.error().message)));
    }
    copies.staged_.push_back(std::move(*staged));
  }
  return copies;
}

std::vector<PeerCopies::Copy> PeerCopies::copies_of(std::size_t rank) const {
  const std::size_t count = ranks_.size();
  const auto* const send = static_cast<const std::byte*>(ranks_[rank].send);
  const auto share_at = [&](std::size_t at) { return static_cast<std::byte*>(ranks_[at].recv) + share_ * rank; };
  const bool gathers = op_ == CollectiveOp::all_gather;

  std::vector<Copy> copies;
  for (std::size_t step = 1; step < count; ++step) {
    const std::size_t peer = after(rank, step, count);
    copies.push_back({share_at(peer), gathers ? send : send + share_ * peer});
  }
  // What is gathered is at the peers already and only comes back.
  const void* back = share_at(after(rank, 1, count));
  if (!gathers) {
    copies.push_back({staged_[rank].get(), send + share_ * rank});
    back = staged_[rank].get();
  }
  copies.push_back({share_at(rank), back});
  return copies;
}

Status PeerCopies::enqueue(const std::vector<StreamHandle>& streams) const {
  if (Status met = meet(ready_, streams); !met) { return met; }
  for (std::size_t rank = 0; rank < streams.size(); ++rank) {
    if (Status used = use(rank); !used) { return used; }
    for (const Copy& copy : copies_of(rank)) {
      const Status copied =
          runtime_->call(runtime_->calls.memcpy_async, copy.to, copy.from, share_, kDeviceToDevice, streams[rank]);
      if (!copied) { return copied; }
    }
  }
  return meet(done_, streams);
}

Status PeerCopies::meet(const std::vector<Event>& events, const std::vector<StreamHandle>& streams) const {
  for (std::size_t rank = 0; rank < streams.size(); ++rank) {
    if (Status used = use(rank); !used) { return used; }
    if (Status marked = runtime_->call(runtime_->calls.event_record, events[rank].get(), streams[rank]); !marked) { return marked; }
  }
  for (std::size_t rank = 0; rank < streams.size(); ++rank) {
    if (Status used = use(rank); !used) { return used; }
    for (std::size_t peer = 0; peer < streams.size(); ++peer) {
      if (peer == rank) { continue; }
      const Status waits = runtime_->call(runtime_->calls.stream_wait_event, streams[rank], events[peer].get(), 0);
      if (!waits) { return waits; }
    }
  }
  return {};
}

}  // namespace elbowroom::gpu
