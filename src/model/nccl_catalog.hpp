#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/model/comm_catalog.hpp"

namespace elbowroom::detail {

/// What the simulator's times were measured with.
inline constexpr CommRelease kSimulatedNccl{2, 28};

struct NcclName {
  CommRelease release;
  std::string_view kind;  ///< threads of a ring's or tree's kernel, or "symmetric"
};

/// "nccl-2.28:544"; absent for what is not spelled so, and for another kind.
std::optional<NcclName> read_nccl_name(std::string_view text);
std::string name_of(const NcclName& name);

CommRelease newest_nccl();
std::vector<std::string> nccl_kernel_names();
/// All of these in a few words, behind "expected".
std::string nccl_names_in_words();

/// `invalid_input` for a device that NCCL has no code for, and for a size that is not known.
Result<CommKernel> nccl_kernel(const NcclName& name, const DeviceLimits& device);

}  // namespace elbowroom::detail
