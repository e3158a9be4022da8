#include "elbowroom/model/collective_facts.hpp"

#include <algorithm>
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

/// Of the shares of ranks before `rank`, in elements: rounded down, so that those of all ranks are the whole.
std::int64_t elements_before(const Collective& collective, int rank) {
  double before = 0;
  double all = 0;
  for (std::size_t at = 0; at < collective.shares.size(); ++at) {
    if (at < static_cast<std::size_t>(rank)) { before += collective.shares[at]; }
    all += collective.shares[at];
  }
  // The last border is the whole itself, whatever rounding makes of it.
  if (before >= all) { return elements(collective); }
  return static_cast<std::int64_t>(static_cast<double>(elements(collective)) * (before / all));
}

RankData exchanged_by_shares(const Collective& collective, int ranks, int rank) {
  const std::int64_t offset = elements_before(collective, rank);
  const std::int64_t share = elements_before(collective, rank + 1) - offset;
  return {.sent = elements(collective),
          .received = share * ranks,
          .sums = false,
          .first_sender = 0,
          .senders = ranks,
          .offset = offset};
}

/// What the rank with the greatest share gets, or the one with the least sends.
double of_the_busiest(const Collective& collective, int ranks) {
  double busiest = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::int64_t share = exchanged_by_shares(collective, ranks, rank).of_each();
    const std::int64_t moved = std::max(elements(collective) - share, share * (ranks - 1));
    busiest = std::max(busiest, static_cast<double>((size_of(collective.dtype) * moved).count()));
  }
  return busiest;
}

RankData sent_to_the_second(const Collective& collective, int /*ranks*/, int rank) {
  const std::int64_t all = elements(collective);
  return {.sent = rank == 0 ? all : 0,
          .received = rank == 1 ? all : 0,
          .sums = false,
          .first_sender = 0,
          .senders = rank == 1 ? 1 : 0,
          .offset = 0};
}

constexpr std::array kCollectives{
    CollectiveFacts{.op = CollectiveOp::all_reduce,
                    .name = "all_reduce",
                    .data = all_reduced,
                    .sent = twice,
                    .reduces = true,
                    .engines = Engines::gathering_half,
                    .symmetric_blocks = Blocks(7)},
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
    CollectiveFacts{.op = CollectiveOp::all_to_all_v,
                    .name = "all_to_all_v",
                    .divides = false,
                    .takes = CollectiveFacts::Takes::shares,
                    .data = exchanged_by_shares,
                    .sent = of_the_busiest,
                    .exchanges = true,
                    .no_engines = "NCCL gives copy engines equal shares only",
                    .without_symmetric = "NCCL's send and receive"},
    CollectiveFacts{.op = CollectiveOp::send_recv,
                    .name = "send_recv",
                    .divides = false,
                    .ranks = 2,
                    .data = sent_to_the_second,
                    .sent = whole,
                    .exchanges = true,
                    .no_engines = "NCCL gives copy engines no single send",
                    .without_symmetric = "NCCL's send and receive"},
};

}  // namespace

std::span<const CollectiveFacts> collectives() { return kCollectives; }

const CollectiveFacts& facts_of(CollectiveOp op) { return kCollectives[static_cast<std::size_t>(op)]; }

}  // namespace elbowroom
