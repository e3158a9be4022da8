#pragma once

#include <compare>
#include <optional>
#include <string>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/quantities.hpp"

namespace elbowroom {

/// One value for each control. The default plan changes nothing. Plans are data: making one costs nothing and acts on nothing;
/// only a Backend acts.
struct OverlapPlan {
  std::optional<BlocksPerSm> blocks_per_sm;  ///< residency that `pad` enforces; absent: not shaped
  Bytes pad;                                 ///< dynamic shared memory added to every compute block
  bool priority = false;                     ///< communication stream at the device's greatest priority
  bool launch_gate = false;                  ///< compute waits until the collective's blocks are resident
  std::optional<Blocks> comm_blocks;         ///< block budget of the collective; absent: the library's own choice
  std::optional<int> cluster;                ///< cluster size of the collective's kernel; absent: the library's own choice
  std::optional<Sms> sm_target;              ///< SMs that a library GEMM sizes itself for; absent: all
  /// Threads of each of the collective's blocks (NCCL_NTHREADS, one more warp is the library's own); absent: its own choice.
  /// NCCL reads it once in a process, so another value needs another process.
  std::optional<Threads> comm_threads;
  /// Share of an SM's L1 and shared memory that compute kernels prefer as shared memory, 0 to 100; absent: the driver's choice.
  std::optional<Percent> carveout;
  /// SMs set aside for the collective in a partition of its own (a green context; on AMD, a CU mask on compute's stream); compute
  /// gets the others. Absent: no partition.
  std::optional<Sms> comm_sms;
  /// The collective's buffers are windows of symmetric memory, which its kernels then read and write at all ranks, without buffers
  /// of the library's own between: fewer blocks move as much, each with up to all registers of an SM.
  bool symmetric = false;
  /// The collective's data is moved by copy engines, which take no SM; of an all_reduce the half that gathers, after a
  /// reduce-scatter.
  bool copy_engine = false;
  /// With copy_engine, no share of the data is copied within its own device, which would be a kernel: it goes to a peer and comes
  /// back. The links carry up to three times as much; no part of the collective takes an SM.
  bool peer_detour = false;
  /// Launches that nothing of the other side can run beside, the first compute kernel of a pipeline and its last collective, run
  /// under outside_windows() instead: they would only pay for room that nobody uses. Costs a second communicator.
  bool windows_only = false;

  auto operator<=>(const OverlapPlan&) const = default;
};

/// What the plan sets, for a sentence: "priority, 24 comm blocks, cluster 1, SM target 108"; "no control" for the empty plan.
ELBOWROOM_API std::string in_words(const OverlapPlan& plan);

}  // namespace elbowroom
