#include "elbowroom/plan/capabilities.hpp"

namespace elbowroom {

Capabilities capabilities_of(const DeviceLimits& device) {
  Capabilities can;
  if (device.vendor == Vendor::nvidia) { return can; }
  can.begun_events = invalid_input("HIP has no event that says that a kernel's blocks have begun");
  can.comm_clusters = invalid_input("HIP launches no clusters");
  can.comm_threads = invalid_input("RCCL takes no number of threads");
  can.carveouts = invalid_input("the LDS of AMD devices is not carved out of a cache");
  can.symmetric = invalid_input("kernels on symmetric memory are NCCL's");
  can.copy_engines = invalid_input("copy-engine collectives are NCCL's");
  return can;
}

}  // namespace elbowroom
