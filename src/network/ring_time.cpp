#include "elbowroom/network/ring_time.hpp"

#include <algorithm>
#include <bit>

namespace elbowroom {
namespace {

/// On a tree of hosts.
int ranks_up_and_down(const RingPlace& place) {
  const int hosts = (place.ranks + place.per_host - 1) / place.per_host;
  return 2 * static_cast<int>(std::bit_width(static_cast<unsigned>(hosts - 1)));
}

/// Each GPU's link carries all its bytes to the switch, and its share of the sums; the same back. Between hosts goes what a ring
/// sends there, at the same time. A message passes one rank, and those of the tree.
Microseconds time_by_switches(double bytes, const RingPlace& place, const MachineSpec& machine) {
  const HostLinks& links = machine.links;
  const double within = bytes * (1 + 1.0 / place.per_host) / (links.rate * links.switch_share);
  const double between = 2 * bytes * (place.ranks - 1) / place.ranks / sending_rate(CollectiveOp::all_reduce, place, machine);
  const int passed = 1 + (place.within_host() ? 0 : ranks_up_and_down(place));
  return links.start + passed * links.rank + Microseconds(place.within_host() ? within : std::max(within, between));
}

}  // namespace

RingPlace ring_place(int ranks, int stride, const MachineSpec& machine) {
  if (stride >= machine.host_gpus) { return {ranks, 1, machine.host_gpus}; }
  return {ranks, std::min(ranks, machine.host_gpus / stride), stride};
}

Microseconds way_time(CollectiveOp op, const RingPlace& place, const MachineSpec& machine) {
  int passed = place.ranks;
  if (op == CollectiveOp::all_reduce && !place.within_host()) {
    passed = std::min(passed, ranks_up_and_down(place) + place.per_host);
  }
  return machine.links.start + passed * machine.links.rank;
}

// A ring leaves a host once, whichever of its ranks does it. What is sent to all others leaves it from each rank but for the share
// of those on the same host.
double sending_rate(CollectiveOp op, const RingPlace& place, const MachineSpec& machine) {
  if (place.within_host()) { return machine.links.rate; }
  double rate = machine.host_rate() / place.rings_of_host;
  const bool to_all = op == CollectiveOp::all_to_all || op == CollectiveOp::all_to_all_v;
  if (to_all) { rate *= static_cast<double>(place.ranks - 1) / (place.per_host * (place.ranks - place.per_host)); }
  return std::min(machine.links.rate, rate);
}

// Every rank sends each of n parts to its neighbour twice but for two: 2 (n - 1) steps of bytes / n. Small messages go by a
// protocol that begins sooner and carries flags; below some size only the time from rank to rank counts.
AllReduceChoice all_reduce_choice(Bytes bytes, const RingPlace& place, const MachineSpec& machine) {
  if (place.ranks <= 1) { return {}; }
  const HostLinks& links = machine.links;
  const double part = static_cast<double>(bytes.count()) / place.ranks;
  const double steps = 2.0 * (place.ranks - 1);
  const double rate = sending_rate(CollectiveOp::all_reduce, place, machine);
  const Microseconds passed = way_time(CollectiveOp::all_reduce, place, machine);
  const Microseconds flagged = links.start + Microseconds(steps * part / (rate * links.packet_share));
  const Microseconds buffered = passed + Microseconds((steps + links.turn_share) * part / rate);
  const bool by_tree = passed < links.start + place.ranks * links.rank;
  const AllReduceChoice best{by_tree ? AllReduceWay::tree : AllReduceWay::ring, std::max(passed, std::min(flagged, buffered))};
  if (links.switch_share <= 0 || place.per_host <= 2) { return best; }
  const Microseconds switched = time_by_switches(static_cast<double>(bytes.count()), place, machine);
  if (switched >= best.time) { return best; }
  return {place.within_host() ? AllReduceWay::nvls : AllReduceWay::nvls_tree, switched};
}

Microseconds all_reduce_time(Bytes bytes, const RingPlace& place, const MachineSpec& machine) {
  return all_reduce_choice(bytes, place, machine).time;
}

Microseconds message_time(Bytes bytes, bool within_host, const MachineSpec& machine) {
  const double rate = within_host ? machine.links.rate : std::min(machine.links.rate, machine.host_rate() / machine.host_gpus);
  return Microseconds(static_cast<double>(bytes.count()) / rate);
}

}  // namespace elbowroom
