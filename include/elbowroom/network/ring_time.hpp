#pragma once

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/time.hpp"
#include "elbowroom/model/scenario.hpp"
#include "elbowroom/network/machine.hpp"

namespace elbowroom {

/// Ranks of one communicator, and what else leaves their hosts at the same time.
struct RingPlace {
  int ranks = 1;
  int per_host = 1;       ///< of these ranks
  int rings_of_host = 1;  ///< communicators that do the same at once and share the host's rails, this one among them

  [[nodiscard]] bool within_host() const { return ranks <= per_host; }
};

/// Of `ranks` whose numbers lie `stride` apart, on a machine that numbers the GPUs of a host one after the other.
ELBOWROOM_API RingPlace ring_place(int ranks, int stride, const MachineSpec& machine);

/// From a collective's start until a byte of each rank has been wherever it goes, whatever the rates. Rings pass all ranks. An
/// all-reduce may take a tree of hosts instead, as NCCL does for small messages: up and down again, with the ranks of a host in a
/// chain.
ELBOWROOM_API Microseconds way_time(CollectiveOp op, const RingPlace& place, const MachineSpec& machine);

/// Bytes per microsecond that a rank sends to its neighbour in rings, or to all others at once, beside the same of the
/// communicators that share its host.
ELBOWROOM_API double sending_rate(CollectiveOp op, const RingPlace& place, const MachineSpec& machine);

/// Ways of an all-reduce. `nvls`: switches of the host add. `nvls_tree`: they do, and a tree joins the hosts, which is NCCL's
/// hierarchical way.
enum class AllReduceWay { ring, tree, nvls, nvls_tree };

struct AllReduceChoice {
  AllReduceWay way = AllReduceWay::ring;
  Microseconds time{0};

  bool operator==(const AllReduceChoice&) const = default;
};

/// The way of least time, as NCCL's tuner chooses by size and ranks, for `bytes` on each rank and nothing beside it. 0 for one
/// rank.
ELBOWROOM_API AllReduceChoice all_reduce_choice(Bytes bytes, const RingPlace& place, const MachineSpec& machine);
ELBOWROOM_API Microseconds all_reduce_time(Bytes bytes, const RingPlace& place, const MachineSpec& machine);

/// One message of `bytes` between two ranks, of which each GPU of a host sends one at the same time.
ELBOWROOM_API Microseconds message_time(Bytes bytes, bool within_host, const MachineSpec& machine);

}  // namespace elbowroom
