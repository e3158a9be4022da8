#pragma once

#include "elbowroom/base/result.hpp"

namespace elbowroom {

struct CommSettings;

}  // namespace elbowroom

/// What the user told NCCL by its environment, where a program must not go past it.
namespace elbowroom::cuda {

/// `unavailable` where NCCL_P2P_DISABLE=1, or NCCL_P2P_LEVEL=LOC, keeps NCCL from copying between GPUs. NCCL asks it for its
/// transports alone. Memory would be registered all the same, and data would go the way that was ruled out.
[[nodiscard]] Status peers_allowed();

/// NCCL reads the thread count once in a process, before its first communicator: another value needs another process.
[[nodiscard]] Status comm_threads_possible(const CommSettings& settings);

}  // namespace elbowroom::cuda
