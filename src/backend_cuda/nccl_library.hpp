#pragma once

#include "backend_gpu/comm_library.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::cuda {

/// A loaded NCCL.
struct NcclLibrary {
  gpu::CommLibrary comm;
  Status launches_observed;  ///< whether a launch gate can be set behind this library's launches; the reason otherwise
};

/// `unavailable` names the files that were tried. NCCL before 2.18 is refused: it lacks per-communicator budgets.
Result<NcclLibrary> load_nccl();

}  // namespace elbowroom::cuda
