#pragma once

#include <compare>
#include <optional>
#include <variant>

#include "elbowroom/base/quantities.hpp"

namespace elbowroom {

/// What a compute kernel is launched with. Absent, and no pad: as it is by itself.
struct ComputeSettings {
  Bytes pad;                     ///< dynamic shared memory added to every compute block
  std::optional<Sms> sm_target;  ///< SMs that a library GEMM sizes itself for; absent: all
  /// Share of an SM's L1 and shared memory that compute kernels prefer as shared memory, 0 to 100; absent: the driver's choice.
  std::optional<Percent> carveout;

  auto operator<=>(const ComputeSettings&) const = default;
};

/// What a collective goes over. Absent: the library's own choice.
struct CommSettings {
  std::optional<Blocks> comm_blocks;  ///< block budget
  std::optional<int> cluster;         ///< cluster size of the collective's kernel
  /// Threads of each of the collective's blocks (one more warp is the library's own). NCCL reads it once in a process, so another
  /// value needs another process.
  std::optional<Threads> comm_threads;
  /// The collective's buffers are in symmetric memory, which its kernels then read and write at all ranks. The library puts no
  /// buffers of its own between, so fewer blocks move as much, each with up to all registers of an SM.
  bool symmetric = false;
  /// The collective's data is moved by copy engines, which take no SM; of an all_reduce the half that gathers, after a
  /// reduce-scatter.
  bool copy_engine = false;
  /// With copy_engine, no share of the data is copied within its own device, which would be a kernel. It goes to a peer and comes
  /// back. The links carry up to three times as much; no part of the collective takes an SM.
  bool peer_detour = false;

  auto operator<=>(const CommSettings&) const = default;
};

using LaunchSettings = std::variant<ComputeSettings, CommSettings>;

}  // namespace elbowroom
