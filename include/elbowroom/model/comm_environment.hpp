#pragma once

#include <span>
#include <string_view>

#include "elbowroom/base/export.hpp"

// Variables of their environment by which NCCL, and RCCL where it has the feature, let themselves be told what to do. The one place
// that knows their names.
namespace elbowroom {

/// A process sets these for its library.
inline constexpr std::string_view kLeastCommBlocksVariable = "NCCL_MIN_CTAS";
inline constexpr std::string_view kMostCommBlocksVariable = "NCCL_MAX_CTAS";
/// RCCL's words for the same.
inline constexpr std::string_view kLeastChannelsVariable = "NCCL_MIN_NCHANNELS";
inline constexpr std::string_view kMostChannelsVariable = "NCCL_MAX_NCHANNELS";
inline constexpr std::string_view kClusterVariable = "NCCL_CGA_CLUSTER_SIZE";
inline constexpr std::string_view kCommThreadsVariable = "NCCL_NTHREADS";
inline constexpr std::string_view kBlockPolicyVariable = "NCCL_CTA_POLICY";
inline constexpr std::string_view kTunerPluginVariable = "NCCL_TUNER_PLUGIN";
/// Blocks of kernels on symmetric memory, and whether NVLink multicast may be used.
inline constexpr std::string_view kSymmetricBlocksVariable = "NCCL_SYM_CTAS";
inline constexpr std::string_view kMulticastVariable = "NCCL_NVLS_ENABLE";

/// Processes with different values are on different hosts for it.
inline constexpr std::string_view kHostVariable = "NCCL_HOSTID";
/// The interfaces that it talks to other hosts by.
inline constexpr std::string_view kInterfaceVariable = "NCCL_SOCKET_IFNAME";

struct CommVariable {
  enum class Fixes { blocks, threads, cluster, algorithm, other };
  std::string_view name;
  Fixes fixes = Fixes::other;
  bool moves_data = true;  ///< it decides by which links, algorithm or blocks data move
};

/// Those that matter here, by name.
ELBOWROOM_API std::span<const CommVariable> comm_variables();

/// Whether it is one of comm_variables() that fixes that.
ELBOWROOM_API bool comm_variable_fixes(std::string_view name, CommVariable::Fixes what);

/// Whether sums depend on it. A ring adds an element's terms in the order of its ranks. Where the element lies in the buffer
/// decides the first rank, and blocks and threads change which.
ELBOWROOM_API bool orders_sums(std::string_view name);

}  // namespace elbowroom
