#include "backend_sim/comm_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "backend_sim/performance.hpp"
#include "elbowroom/model/collective_facts.hpp"
#include "elbowroom/model/comm_catalog.hpp"
#include "elbowroom/plan/controls.hpp"
#include "elbowroom/plan/launch_settings.hpp"
#include "elbowroom/plan/occupancy.hpp"

namespace elbowroom::sim {
namespace {

constexpr double kMemoryShare = 0.7;
// A guess: no measured row constrains it (docs/simulator.md).
constexpr double kIssueShare = 0.5;
// Bytes of device memory per byte on the links: what is read to be sent, what arrives, and for reductions the second operand.
// Fitted to times; no counter has measured it.
constexpr double kTrafficReducing = 6.0;
constexpr double kTrafficCopying = 2.0;

// Between two devices the half of an all-reduce that adds moves bytes more slowly than both halves on average. In larger rings it
// is a reduce-scatter like any other. Measured on H200 (docs/simulator.md).
constexpr double kReducingHalfOfPair = 0.84;

// The device's rates are those of an all-reduce between two. Measured on H200 (docs/simulator.md). In rings of four the blocks and
// an all-reduce's links are faster. Operations other than all-reduce reach less of the links.
double block_share(int gpus) {
  constexpr double larger_ring = 1.18;
  return gpus == 2 ? 1.0 : larger_ring;
}

double link_share(CollectiveOp op, int gpus) {
  constexpr double larger_ring = 1.10;
  constexpr double one_way_pair = 0.71;
  constexpr double one_way_larger = 0.96;
  if (op == CollectiveOp::all_reduce) { return gpus == 2 ? 1.0 : larger_ring; }
  return gpus == 2 ? one_way_pair : one_way_larger;
}

/// What a device's collectives other than all-reduces reach, relative to H200.
struct OneWay {
  double blocks = 1, links = 1, traffic = 1;
};

OneWay one_way(const SimulatedSpeeds& speed) { return {speed.one_way_blocks, speed.one_way_links, speed.one_way_traffic}; }

/// The collective's grid, of `usual` blocks where nothing was decided, and what each block sends; its speeds are still to be set.
Result<CommProfile> laid_out(const Collective& collective, const CommSettings& settings, int gpus, KernelFootprint footprint,
                             int usual, const DeviceLimits& device) {
  CommProfile profile;
  profile.blocks = settings.comm_blocks ? static_cast<int>(settings.comm_blocks->count()) : usual;
  footprint.cluster = settings.cluster.value_or(footprint.cluster);
  // The library launches clusters only where the grid divides into them.
  if (profile.blocks % footprint.cluster != 0) { footprint.cluster = 1; }
  profile.footprint = footprint;
  if (const Result<Occupancy> runs = occupancy(device, footprint); !runs) { return runs.error(); }
  profile.bytes = facts_of(collective.op).sent(collective, gpus) / profile.blocks;
  profile.memory_share = kMemoryShare;
  profile.issue_share = kIssueShare;
  return profile;
}

Result<CommProfile> buffered_profile(const Collective& collective, const CommSettings& settings, int gpus,
                                     const KernelFootprint& footprint, const DeviceLimits& device) {
  const SimulatedSpeeds& speed = performance_of(device);
  const auto usual = static_cast<int>(comm_blocks_of(collective.op, device).count());
  Result<CommProfile> profile = laid_out(collective, settings, gpus, footprint, usual, device);
  if (!profile) { return profile; }
  profile->startup = speed.comm_startup;
  // One warp of a block synchronizes, the others move data.
  const auto movers = device.vendor == Vendor::nvidia ? footprint.threads - device.warp : footprint.threads;
  const OneWay of_op = collective.op == CollectiveOp::all_reduce ? OneWay{} : one_way(speed);
  const double blocks = block_share(gpus) * of_op.blocks;
  profile->block_rate = blocks * speed.comm_thread_rate * static_cast<double>(movers.count());
  profile->sm_rate = blocks * speed.comm_sm_rate;
  profile->link_rate = speed.link_rate * link_share(collective.op, gpus) * of_op.links;
  profile->traffic = (facts_of(collective.op).reduces ? kTrafficReducing : kTrafficCopying) * of_op.traffic;
  return profile;
}

// What kernels on symmetric memory do, by operation. Measured on two and on four H200 (docs/simulator.md); other numbers do
// as four.
struct SymmetricKernel {
  double rate;     ///< of a block, relative to what as many threads move between two devices otherwise
  double link;     ///< that all blocks reach, relative to an all-reduce between two devices otherwise
  double traffic;  ///< bytes of device memory per byte on the links
};

SymmetricKernel symmetric_kernel(CollectiveOp op, int gpus) {
  // Each rank's memory is read once and written once where it matters, with nothing in between. Of S bytes an all-reduce reads and
  // writes all, the two others all on one side and a share on the other.
  const double peers = gpus - 1;
  const bool pair = gpus == 2;
  if (op == CollectiveOp::all_reduce) { return {pair ? 0.78 : 0.94, pair ? 1.01 : 0.91, gpus / peers}; }
  const double traffic = (gpus + 1) / peers;
  if (op == CollectiveOp::all_gather) { return {pair ? 0.56 : 1.17, pair ? 1.25 : 1.0, traffic}; }
  return {pair ? 0.425 : 0.55, pair ? 1.25 : 0.95, traffic};
}

Result<CommProfile> symmetric_profile(const Collective& collective, const CommSettings& settings, int gpus,
                                      const DeviceLimits& device) {
  constexpr double startup = 11;
  const SimulatedSpeeds& speed = performance_of(device);
  const SymmetricKernel kernel = symmetric_kernel(collective.op, gpus);
  const auto usual = static_cast<int>(facts_of(collective.op).symmetric_blocks.count());
  const Result<CommKernel> block = symmetric_comm_kernel(collective.op);
  if (!block) { return block.error(); }
  Result<CommProfile> profile = laid_out(collective, settings, gpus, block->footprint, usual, device);
  if (!profile) { return profile; }
  profile->startup = startup;
  profile->block_rate = kernel.rate * speed.comm_thread_rate * static_cast<double>(profile->footprint.threads.count());
  profile->sm_rate = kNoLimit;  // a block has an SM to itself
  profile->link_rate = kernel.link * speed.link_rate;
  profile->traffic = kernel.traffic;
  return profile;
}

// How the driver copies within a device: every SM takes part, memory is the limit. 256 MiB take 0.132 ms on H200; what its blocks
// need of an SM is not published.
CommProfile local_copy(const Collective& collective, int gpus, const DeviceLimits& device) {
  constexpr int blocks_per_sm = 2;
  constexpr double unloaded_share = 0.9;  // of the memory's rate, were its latency what it is without demand
  CommProfile profile;
  profile.footprint = {Threads(512), Registers(32), Bytes(0), Bytes(0), 1};
  profile.blocks = blocks_per_sm * static_cast<int>(device.sms.count());
  profile.startup = 3;
  profile.bytes = static_cast<double>(collective.bytes.count()) / gpus / profile.blocks;
  profile.block_rate = unloaded_share * performance_of(device).memory_rate / profile.blocks;
  profile.sm_rate = profile.link_rate = kNoLimit;  // it leaves no device and no SM
  profile.traffic = kTrafficCopying;
  profile.memory_share = 1;
  profile.issue_share = kIssueShare;
  return profile;
}

}  // namespace

Result<CommProfile> comm_profile(const Collective& collective, const CommSettings& settings, int gpus, const DeviceLimits& device) {
  if (settings.symmetric) { return symmetric_profile(collective, settings, gpus, device); }
  const Result<CommKernel> kernel = find_comm_kernel(comm_kernel_of(collective.op, device), device);
  if (!kernel) { return kernel.error(); }
  KernelFootprint footprint = kernel->footprint;
  if (settings.comm_threads) { footprint.threads = *settings.comm_threads + device.warp; }
  return buffered_profile(collective, settings, gpus, footprint, device);
}

Result<CommProfile> profile_beside_copies(const Collective& collective, const CommSettings& settings, int gpus,
                                          const DeviceLimits& device) {
  if (!facts_of(collective.op).adds_before_copies()) { return local_copy(collective, gpus, device); }
  Collective half = collective;
  half.op = CollectiveOp::reduce_scatter;
  Result<CommProfile> profile = comm_profile(half, settings, gpus, device);
  if (!profile || settings.symmetric || gpus > 2) { return profile; }
  profile->block_rate *= kReducingHalfOfPair;
  profile->sm_rate *= kReducingHalfOfPair;
  profile->link_rate = performance_of(device).link_rate;
  return profile;
}

void lead_over_hosts(CommProfile& profile, CollectiveOp op, const RingPlace& place, const MachineSpec& machine) {
  profile.link_rate = std::min(profile.link_rate, sending_rate(op, place, machine));
  profile.startup += (way_time(op, place, machine) - machine.links.start).count();
}

double copied_bytes(const Collective& collective, int gpus, bool detour) {
  const int ways_of_own = collective.op == CollectiveOp::all_gather ? 1 : 2;
  const int shares = gpus - 1 + (detour ? ways_of_own : 0);
  return static_cast<double>(collective.bytes.count()) * shares / gpus;
}

}  // namespace elbowroom::sim
