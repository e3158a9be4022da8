#pragma once

#include <cstdint>
#include <vector>

#include "backend_cuda/communicators.hpp"
#include "backend_cuda/handles.hpp"
#include "headroom/base/result.hpp"
#include "headroom/model/scenario.hpp"

namespace headroom::cuda {

/// The scenario's collective with its buffers on devices 0..gpus-1: send buffers filled once, receive buffers free to poison.
class CollectiveBuffers {
 public:
  static Result<CollectiveBuffers> make(const NcclLibrary& nccl, const Collective& collective, int gpus, std::uint64_t seed);

  /// Makes both buffers of every rank known to `comms`.
  Status register_with(Communicators& comms) const;

  /// Enqueues the collective on one stream per device. Does not wait.
  [[nodiscard]] Status enqueue(const NcclLibrary& nccl, const Communicators& comms, const std::vector<cudaStream_t>& streams) const;

  /// Fills every receive buffer with NaN and waits.
  [[nodiscard]] Status poison();
  /// Compares every received element on every device with its exact reference; waits.
  [[nodiscard]] Status verify() const;

 private:
  struct Rank {
    CollectiveMemory send;
    CollectiveMemory recv;
  };
  CollectiveBuffers(const Collective& collective, int gpus, std::uint64_t seed)
      : collective_(collective), gpus_(gpus), seed_(seed) {}

  Status enqueue_rank(const NcclLibrary& nccl, const Rank& rank, NcclComm comm, cudaStream_t stream) const;

  /// All-to-all as one call: what NCCL can give to copy engines, unlike sends and receives.
  Status enqueue_whole_exchange(const NcclLibrary& nccl, const Rank& rank, NcclComm comm, cudaStream_t stream) const;

  Collective collective_;
  int gpus_;
  std::uint64_t seed_;
  std::vector<Rank> ranks_;
};

}  // namespace headroom::cuda
