#include "elbowroom/plan/occupancy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "elbowroom/base/grouped.hpp"
#include "elbowroom/plan/allocation.hpp"

namespace elbowroom {
namespace {

std::string_view sm_of(const DeviceLimits& device) { return device.vendor == Vendor::nvidia ? "an SM" : "a CU"; }

// A warp's registers lie in one partition: what counts is whole warps per sub-partition, not registers per SM.
std::int64_t warps_by_registers(const DeviceLimits& device, const KernelFootprint& block) {
  const Registers per_warp = registers_per_warp(device, block);
  if (per_warp == Registers(0)) { return warps_per_sm(device); }
  return device.registers_per_sm / device.sub_partitions / per_warp * device.sub_partitions;
}

Status check_threads(const DeviceLimits& device, const KernelFootprint& block) {
  if (block.threads < Threads(1)) {
    return invalid_input(fmt::format("one block has {} threads, expected 1 to {}", grouped(block.threads.count()),
                                     grouped(device.max_threads_per_block.count())));
  }
  if (block.threads > device.max_threads_per_block) {
    return invalid_input(fmt::format("one block needs {} threads, a block of {} may have {}", grouped(block.threads.count()),
                                     device.name, grouped(device.max_threads_per_block.count())));
  }
  return {};
}

// Warps go evenly over the sub-partitions, so the fullest one decides for all: every one counts as that one.
Error too_many_registers_per_block(const DeviceLimits& device, const KernelFootprint& block, std::int64_t warps) {
  const std::int64_t sub_partitions = device.sub_partitions;
  const std::int64_t counted = (warps + sub_partitions - 1) / sub_partitions * sub_partitions;
  return invalid_input(fmt::format("one block needs {} registers, {} of {} has {}",
                                   grouped((registers_per_warp(device, block) * counted).count()), sm_of(device), device.name,
                                   grouped(device.registers_per_sm.count())));
}

Error too_many_registers_per_thread(const DeviceLimits& device, const KernelFootprint& block) {
  return invalid_input(fmt::format("one thread needs {} registers, a thread of {} has at most {}",
                                   grouped(block.registers_per_thread.count()), device.name,
                                   grouped(device.max_registers_per_thread.count())));
}

// Only what the arithmetic needs; the device's own limit comes after that of the block, whose amounts say more.
Status check_registers_countable(const DeviceLimits& device, const KernelFootprint& block) {
  if (block.registers_per_thread < Registers(0)) {
    return invalid_input(
        fmt::format("one thread has {} registers, expected 0 or more", grouped(block.registers_per_thread.count())));
  }
  if (block.registers_per_thread > device.registers_per_sm) { return too_many_registers_per_thread(device, block); }
  return {};
}

Status check_shared_memory(const DeviceLimits& device, const KernelFootprint& block) {
  if (block.static_shared < Bytes(0) || block.dynamic_shared < Bytes(0)) {
    return invalid_input(fmt::format("one block has {} B static and {} B dynamic shared memory, expected 0 or more of each",
                                     grouped(block.static_shared.count()), grouped(block.dynamic_shared.count())));
  }
  // Two comparisons instead of a sum that could overflow.
  if (block.static_shared > device.shared_per_block || block.dynamic_shared > device.shared_per_block - block.static_shared) {
    return invalid_input(fmt::format("one block needs {} B static and {} B dynamic shared memory, a block of {} may have {} B",
                                     grouped(block.static_shared.count()), grouped(block.dynamic_shared.count()), device.name,
                                     grouped(device.shared_per_block.count())));
  }
  return {};
}

Status check_cluster(const DeviceLimits& device, const KernelFootprint& block) {
  if (block.cluster >= 1 && block.cluster <= device.max_cluster) { return {}; }
  return invalid_input(fmt::format("one cluster has {} blocks, expected 1 to {} on {}", grouped(block.cluster),
                                   grouped(device.max_cluster), device.name));
}

/// Amounts that every answer is made of; divisions are what a query costs, so each is done once.
struct Demand {
  std::int64_t warps;               ///< per block
  std::int64_t warps_by_registers;  ///< per SM
  Bytes shared;                     ///< allocation of one block
};

Result<Demand> demand_of(const DeviceLimits& device, const KernelFootprint& block) {
  if (const Status status = check_threads(device, block); !status) { return status.error(); }
  if (const Status status = check_registers_countable(device, block); !status) { return status.error(); }
  if (const Status status = check_shared_memory(device, block); !status) { return status.error(); }
  if (const Status status = check_cluster(device, block); !status) { return status.error(); }
  const Demand demand{warps_per_block(device, block), warps_by_registers(device, block), shared_allocation(device, block)};
  if (demand.warps_by_registers < demand.warps) { return too_many_registers_per_block(device, block, demand.warps); }
  if (block.registers_per_thread > device.max_registers_per_thread) { return too_many_registers_per_thread(device, block); }
  return demand;
}

BlockLimits limits_of(const DeviceLimits& device, const KernelFootprint& block, const Demand& demand) {
  const bool uses_registers = block.registers_per_thread > Registers(0);
  const bool uses_shared = demand.shared > Bytes(0);
  BlockLimits limits;
  limits.by_threads = BlocksPerSm(warps_per_sm(device) / demand.warps);
  limits.by_blocks = device.max_blocks_per_sm;
  limits.by_registers = uses_registers ? BlocksPerSm(demand.warps_by_registers / demand.warps) : device.max_blocks_per_sm;
  limits.by_shared_memory = uses_shared ? BlocksPerSm(device.shared_per_sm / demand.shared) : device.max_blocks_per_sm;
  return limits;
}

}  // namespace

Result<BlockLimits> block_limits(const DeviceLimits& device, const KernelFootprint& block) {
  const Result<Demand> demand = demand_of(device, block);
  if (!demand) { return demand.error(); }
  return limits_of(device, block, *demand);
}

Result<Occupancy> occupancy(const DeviceLimits& device, const KernelFootprint& block) {
  const Result<Demand> demand = demand_of(device, block);
  if (!demand) { return demand.error(); }
  const BlockLimits limits = limits_of(device, block, *demand);
  Occupancy result;
  result.residency = std::min({limits.by_threads, limits.by_blocks, limits.by_registers, limits.by_shared_memory});
  if (limits.by_threads == result.residency) { result.limited_by.insert(Resource::threads); }
  if (limits.by_blocks == result.residency) { result.limited_by.insert(Resource::blocks); }
  if (limits.by_registers == result.residency && block.registers_per_thread > Registers(0)) {
    result.limited_by.insert(Resource::registers);
  }
  if (limits.by_shared_memory == result.residency && demand->shared > Bytes(0)) {
    result.limited_by.insert(Resource::shared_memory);
  }
  return result;
}

}  // namespace elbowroom
