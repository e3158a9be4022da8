#pragma once

#include "backend_sim/kernel_profiles.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/device_limits.hpp"
#include "elbowroom/model/scenario.hpp"
#include "elbowroom/network/machine.hpp"
#include "elbowroom/network/ring_time.hpp"

namespace elbowroom {

struct CommSettings;

}  // namespace elbowroom

namespace elbowroom::sim {

/// The communication kernel that the vendor's library launches for `collective` with those settings among `gpus` equal devices. It
/// is by itself, or on symmetric memory, where it takes no number of threads. `invalid_input` when a block cannot run on the
/// device.
Result<CommProfile> comm_profile(const Collective& collective, const CommSettings& settings, int gpus, const DeviceLimits& device);

/// The kernel that is left of the collective where copy engines carry it, to be followed by copies of copied_bytes(). Of an
/// all-reduce it is the reduce-scatter, otherwise the copy within the device, which has none of the library's blocks. They must be
/// possible.
Result<CommProfile> profile_beside_copies(const Collective& collective, const CommSettings& settings, int gpus,
                                          const DeviceLimits& device);

/// The same kernel among ranks of several hosts: rails may be less than it sends by itself, and its first bytes have a longer way.
void lead_over_hosts(CommProfile& profile, CollectiveOp op, const RingPlace& place, const MachineSpec& machine);

/// Bytes that a rank's copy engines send to its peers for one collective, and as many arrive. On a detour they also carry a rank's
/// own share to a peer and back; what is gathered is there already.
double copied_bytes(const Collective& collective, int gpus, bool detour);

}  // namespace elbowroom::sim
