#pragma once

#include <optional>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/comm_catalog.hpp"

namespace elbowroom {

struct DeviceLimits;

/// What a machine has of what controls act through. An ability that is lacking carries the reason, without a control's name; the
/// default lacks nothing. A backend gives it.
struct Capabilities {
  Status urgent_streams;                    ///< a stream's priority acts
  Status begun_events;                      ///< an event says that all blocks of a kernel have begun
  Status block_budgets;                     ///< the communication library takes a number of blocks
  Status comm_clusters;                     ///< and a cluster size
  Status comm_threads;                      ///< and a number of threads
  Status carveouts;                         ///< shared memory is carved out of a cache
  Status symmetric;                         ///< the library's kernels work on symmetric memory
  Status copy_engines;                      ///< its collectives use copy engines
  std::optional<CommRelease> comm_release;  ///< of the library; absent where it is simulated
};

/// What every machine of the device's vendor lacks.
ELBOWROOM_API Capabilities capabilities_of(const DeviceLimits& device);

}  // namespace elbowroom
