#include "backend_gpu/collective_calls.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "elbowroom/model/collective_facts.hpp"

namespace elbowroom::gpu {
namespace {

RankData data_of(const CallingRank& rank, int of) { return facts_of(rank.collective.op).data(rank.collective, rank.ranks, of); }

std::size_t sent(const CallingRank& rank) { return static_cast<std::size_t>(data_of(rank, rank.rank).sent); }
std::size_t received(const CallingRank& rank) { return static_cast<std::size_t>(data_of(rank, rank.rank).received); }

int type(const CallingRank& rank) { return rank.collective.dtype == DataType::f32 ? kCommFloat32 : kCommBfloat16; }

std::ptrdiff_t bytes_of(const CallingRank& rank, std::int64_t elements) {
  return static_cast<std::ptrdiff_t>(elements * size_of(rank.collective.dtype).count());
}

Status all_reduce(const CallingRank& rank) {
  return rank.library.call(rank.library.calls.all_reduce, rank.send, rank.recv, received(rank), type(rank), kCommSum, rank.comm,
                           rank.stream);
}

Status all_gather(const CallingRank& rank) {
  return rank.library.call(rank.library.calls.all_gather, rank.send, rank.recv, sent(rank), type(rank), rank.comm, rank.stream);
}

Status reduce_scatter(const CallingRank& rank) {
  return rank.library.call(rank.library.calls.reduce_scatter, rank.send, rank.recv, received(rank), type(rank), kCommSum, rank.comm,
                           rank.stream);
}

Status broadcast(const CallingRank& rank) {
  // Only the root's buffer is read; others have none.
  const void* const from = rank.send == nullptr ? rank.recv : rank.send;
  return rank.library.call(rank.library.calls.broadcast, from, rank.recv, received(rank), type(rank),
                           rank.collective.root.value_or(0), rank.comm, rank.stream);
}

/// Sends and receives, which every version of the library has.
Status exchange(const CallingRank& rank) {
  const CommCalls& calls = rank.library.calls;
  const auto gets_of = [](const RankData& data, int sender) {
    const bool sends = sender >= data.first_sender && sender < data.first_sender + data.senders;
    return sends ? static_cast<std::size_t>(data.of_each()) : 0;
  };
  const RankData own = data_of(rank, rank.rank);
  for (int peer = 0; peer < rank.ranks; ++peer) {
    const RankData theirs = data_of(rank, peer);
    if (const std::size_t count = gets_of(theirs, rank.rank); count > 0) {
      const auto* const from = static_cast<const char*>(rank.send) + bytes_of(rank, theirs.offset);
      if (Status done = rank.library.call(calls.send, from, count, type(rank), peer, rank.comm, rank.stream); !done) {
        return done;
      }
    }
    if (const std::size_t count = gets_of(own, peer); count > 0) {
      auto* const to = static_cast<char*>(rank.recv) + bytes_of(rank, own.of_each() * (peer - own.first_sender));
      if (Status done = rank.library.call(calls.recv, to, count, type(rank), peer, rank.comm, rank.stream); !done) { return done; }
    }
  }
  return {};
}

struct Row {
  CollectiveOp op;
  Status (*call)(const CallingRank& rank);
};
// Others are exchanges.
constexpr std::array kRows{Row{CollectiveOp::all_reduce, all_reduce},  //
                           Row{CollectiveOp::all_gather, all_gather}, Row{CollectiveOp::reduce_scatter, reduce_scatter},
                           Row{CollectiveOp::broadcast, broadcast}};

std::size_t share(const CallingRank& rank) { return sent(rank) / static_cast<std::size_t>(rank.ranks); }

void* own_share(const CallingRank& rank) {
  return static_cast<char*>(rank.recv) + bytes_of(rank, static_cast<std::int64_t>(share(rank)) * rank.rank);
}

}  // namespace

Status call_whole(const CallingRank& rank) {
  const auto row = std::ranges::find(kRows, rank.collective.op, &Row::op);
  return row == kRows.end() ? exchange(rank) : row->call(rank);
}

Status call_at_once(const CallingRank& rank) {
  return rank.library.call(rank.library.calls.all_to_all, rank.send, rank.recv, share(rank), type(rank), rank.comm, rank.stream);
}

Status call_scatter_sums(const CallingRank& rank) {
  return rank.library.call(rank.library.calls.reduce_scatter, rank.send, own_share(rank), share(rank), type(rank), kCommSum,
                           rank.comm, rank.stream);
}

Status call_gather_sums(const CallingRank& rank) {
  return rank.library.call(rank.library.calls.all_gather, own_share(rank), rank.recv, share(rank), type(rank), rank.comm,
                           rank.stream);
}

}  // namespace elbowroom::gpu
