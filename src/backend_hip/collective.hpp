#pragma once

#include <cstdint>
#include <vector>

#include "backend_hip/communicators.hpp"
#include "backend_hip/device_code.hpp"
#include "backend_hip/handles.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/scenario.hpp"

namespace elbowroom::hip {

/// The scenario's collective with its buffers on devices 0..gpus-1: send buffers filled once, receive buffers free to poison.
class CollectiveBuffers {
 public:
  /// `code` outlives the buffers.
  static Result<CollectiveBuffers> make(DeviceCode& code, const Collective& collective, int gpus, std::uint64_t seed);

  /// Enqueues the collective on one stream per device. Does not wait.
  [[nodiscard]] Status enqueue(const RcclLibrary& rccl, const Communicators& comms, const std::vector<HipStream>& streams) const;

  /// Fills every receive buffer with NaN and waits.
  [[nodiscard]] Status poison() const;
  /// Compares every received element on every device with its exact reference; waits.
  [[nodiscard]] Status verify() const;

 private:
  struct Rank {
    Memory send;
    Memory recv;
  };
  CollectiveBuffers(DeviceCode& code, const Collective& collective, int gpus, std::uint64_t seed)
      : code_(&code), collective_(collective), gpus_(gpus), seed_(seed) {}

  Status add_rank(int rank);
  Status enqueue_rank(const RcclLibrary& rccl, const Rank& rank, RcclComm comm, HipStream stream) const;
  /// All-to-all as RCCL has it in every version.
  Status enqueue_exchange(const RcclLibrary& rccl, const Rank& rank, RcclComm comm, HipStream stream) const;

  DeviceCode* code_;
  Collective collective_;
  int gpus_;
  std::uint64_t seed_;
  std::vector<Rank> ranks_;
};

}  // namespace elbowroom::hip
