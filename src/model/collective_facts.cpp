#include "elbowroom/model/collective_facts.hpp"

#include <array>
#include <cstddef>

namespace elbowroom {
namespace {

using Engines = CollectiveFacts::Engines;

std::int64_t elements(const Collective& collective) { return collective.bytes / size_of(collective.dtype); }

double bytes_of(const Collective& collective) { return static_cast<double>(collective.bytes.count()); }

// Rings pass every share on to all but one rank, twice for an all-reduce.
double once(const Collective& collective, int ranks) { return bytes_of(collective) * (ranks - 1) / ranks; }
double twice(const Collective& collective, int ranks) { return 2.0 * once(collective, ranks); }

RankData all_reduced(const Collective& collective, int ranks, int /*rank*/) {
  const std::int64_t all = elements(collective);
  return {.sent = all, .received = all, .sums = true, .first_sender = 0, .senders = ranks, .offset = 0};
}

RankData all_gathered(const Collective& collective, int ranks, int /*rank*/) {
  const std::int64_t all = elements(collective);
  return {.sent = all / ranks, .received = all, .sums = false, .first_sender = 0, .senders = ranks, .offset = 0};
}

RankData reduce_scattered(const Collective& collective, int ranks, int rank) {
  const std::int64_t share = elements(collective) / ranks;
  return {.sent = share * ranks, .received = share, .sums = true, .first_sender = 0, .senders = ranks, .offset = share * rank};
}

RankData exchanged(const Collective& collective, int ranks, int rank) {
  const std::int64_t all = elements(collective);
  return {.sent = all, .received = all, .sums = false, .first_sender = 0, .senders = ranks, .offset = all / ranks * rank};
}

// All of it goes over each link of a ring, one block after the other.
double whole(const Collective& collective, int /*ranks*/) { return bytes_of(collective); }

RankData broadcast(const Collective& collective, int /*ranks*/, int rank) {
  const int root = collective.root.value_or(0);
  const std::int64_t all = elements(collective);
  return {.sent = rank == root ? all : 0, .received = all, .sums = false, .first_sender = root, .senders = 1, .offset = 0};
}

constexpr std::array kCollectives{
    CollectiveFacts{.op = CollectiveOp::all_reduce,
                    .name = "all_reduce",
                    .data = all_reduced,
                    .sent = twice,
                    .reduces = true,
                    .engines = Engines::gathering_half},
    CollectiveFacts{.op = CollectiveOp::all_gather,  //
                    .name = "all_gather",
                    .data = all_gathered,
                    .sent = once,
                    .engines = Engines::all},
    CollectiveFacts{.op = CollectiveOp::reduce_scatter,
                    .name = "reduce_scatter",
                    .data = reduce_scattered,
                    .sent = once,
                    .reduces = true,
                    .no_engines = "copy engines do not add"},
    CollectiveFacts{.op = CollectiveOp::all_to_all,
                    .name = "all_to_all",
                    .data = exchanged,
                    .sent = once,
                    .exchanges = true,
                    .engines = Engines::all,
                    .without_symmetric = "NCCL's send and receive"},
    CollectiveFacts{.op = CollectiveOp::broadcast,
                    .name = "broadcast",
                    .divides = false,
                    .takes = CollectiveFacts::Takes::root,
                    .data = broadcast,
                    .sent = whole,
                    .no_engines = "NCCL gives copy engines no broadcast",
                    .without_symmetric = "NCCL's broadcasts"},
};

}  // namespace

std::span<const CollectiveFacts> collectives() { return kCollectives; }

const CollectiveFacts& facts_of(CollectiveOp op) { return kCollectives[static_cast<std::size_t>(op)]; }

}  // namespace elbowroom
