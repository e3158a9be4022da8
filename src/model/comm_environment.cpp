#include "elbowroom/model/comm_environment.hpp"

#include <algorithm>
#include <array>

namespace elbowroom {
namespace {

using Fixes = CommVariable::Fixes;

constexpr std::array kVariables{CommVariable{"NCCL_ALGO", Fixes::algorithm},
                                CommVariable{"NCCL_BUFFSIZE"},
                                CommVariable{kClusterVariable, Fixes::cluster},
                                CommVariable{kBlockPolicyVariable},
                                CommVariable{"NCCL_CUMEM_ENABLE"},
                                CommVariable{kMostCommBlocksVariable, Fixes::blocks},
                                CommVariable{kMostChannelsVariable, Fixes::blocks},
                                CommVariable{"NCCL_MAX_NRINGS", Fixes::blocks, false},
                                CommVariable{"NCCL_MAX_P2P_NCHANNELS"},
                                CommVariable{kLeastCommBlocksVariable, Fixes::blocks},
                                CommVariable{kLeastChannelsVariable, Fixes::blocks},
                                CommVariable{"NCCL_MIN_NRINGS", Fixes::blocks, false},
                                CommVariable{"NCCL_MIN_P2P_NCHANNELS"},
                                CommVariable{kCommThreadsVariable, Fixes::threads},
                                CommVariable{kMulticastVariable},
                                CommVariable{"NCCL_NVLS_NCHANNELS"},
                                CommVariable{"NCCL_P2P_DIRECT_DISABLE"},
                                CommVariable{"NCCL_P2P_DISABLE"},
                                CommVariable{"NCCL_P2P_LEVEL"},
                                CommVariable{"NCCL_P2P_USE_CUDA_MEMCPY"},
                                CommVariable{"NCCL_PROTO", Fixes::algorithm},
                                CommVariable{"NCCL_SHM_DISABLE"},
                                CommVariable{kSymmetricBlocksVariable},
                                CommVariable{kTunerPluginVariable},
                                CommVariable{"NCCL_WIN_ENABLE"}};

}  // namespace

std::span<const CommVariable> comm_variables() { return kVariables; }

bool comm_variable_fixes(std::string_view name, CommVariable::Fixes what) {
  return std::ranges::any_of(kVariables, [&](const CommVariable& known) { return known.name == name && known.fixes == what; });
}

bool orders_sums(std::string_view name) {
  return comm_variable_fixes(name, Fixes::blocks) || comm_variable_fixes(name, Fixes::threads);
}

}  // namespace elbowroom
