#pragma once

#include <memory>
#include <string>

#include "elbowroom/base/quantities.hpp"

namespace elbowroom {

struct DeviceFacts;

enum class Vendor { nvidia, amd };

/// What one SM (compute unit on AMD) offers to resident blocks, and how it hands it out. Facts only; plan/occupancy does the
/// arithmetic. On AMD a "warp" is a wave of 64, a sub-partition a SIMD, shared memory LDS, and registers are VGPRs.
struct DeviceLimits {
  std::string name;   ///< catalog name: "h200"
  std::string title;  ///< "NVIDIA H200 SXM"
  Vendor vendor = Vendor::nvidia;
  std::string architecture;  ///< "sm_90", "gfx90a"
  Sms sms;
  Threads warp;  ///< threads that share one instruction stream
  Threads max_threads_per_block;
  Threads max_threads_per_sm;
  BlocksPerSm max_blocks_per_sm;
  Registers registers_per_sm;  ///< over all sub-partitions
  int sub_partitions = 4;      ///< of an SM: a warp lives in one; its registers come from that one's share
  Registers register_granule;  ///< allocation unit for one warp
  Registers max_registers_per_thread;
  Bytes shared_per_sm;
  Bytes shared_per_block;           ///< most that a launch may ask for, static and dynamic together
  Bytes shared_reserved_per_block;  ///< taken by the system beside what the block asks for
  Bytes shared_granule;
  int max_cluster = 1;                       ///< portable limit of blocks in a cluster; 1: no clusters
  std::string source;                        ///< where these numbers come from
  std::shared_ptr<const DeviceFacts> facts;  ///< of a device file (model/device_facts.hpp); null for a device that is there
};

}  // namespace elbowroom
