#pragma once

#include "elbowroom/base/quantities.hpp"

namespace elbowroom {

/// What one block of a kernel takes of an SM.
struct KernelFootprint {
  Threads threads;                 ///< per block, 1..1024
  Registers registers_per_thread;  ///< as the compiler reports; VGPRs on AMD
  Bytes static_shared;             ///< per block; LDS on AMD
  Bytes dynamic_shared;            ///< per block, what the kernel itself asks for, without padding
  int cluster = 1;                 ///< blocks that must start together on SMs of one GPC; 1: none

  bool operator==(const KernelFootprint&) const = default;
};

}  // namespace elbowroom
