#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend_gpu/communicators.hpp"
#include "backend_gpu/handles.hpp"
#include "backend_gpu/peer_copies.hpp"
#include "backend_gpu/platform.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/scenario.hpp"

namespace elbowroom::gpu {

/// What one collective goes over; all outlive its users.
struct CommRoute {
  const Communicators* sms = nullptr;      ///< its kernels; null: it has none
  const Communicators* engines = nullptr;  ///< the library's copies; null: it has none
  const PeerCopies* detour = nullptr;      ///< copies that leave no share on its device, instead of both others; null: it has none
};

/// The first error that the library met on the route after its calls had returned.
[[nodiscard]] Status asynchronous_error(const CommRoute& route);

/// The scenario's collective with its buffers on devices 0..gpus-1: send buffers filled once, receive buffers free to poison.
class CollectiveBuffers {
 public:
  /// Platform and library outlive the buffers.
  static Result<CollectiveBuffers> make(Platform& platform, const CommLibrary& comm, const Collective& collective, int gpus,
                                        std::uint64_t seed);

  /// Makes both buffers of every rank known to `comms`.
  Status register_with(Communicators& comms) const;

  /// The same collective as copies between devices; `unavailable` where memory for those is lacking. Refers to the buffers.
  [[nodiscard]] Result<PeerCopies> as_peer_copies() const;

  /// Enqueues the collective on one stream per device. Does not wait. On a route of both kinds an all-reduce is a reduce-scatter by
  /// kernels and an all-gather by copy engines, in place: every rank's share is where it belongs by then.
  [[nodiscard]] Status enqueue(const CommRoute& route, const std::vector<StreamHandle>& streams) const;
  /// The same in two parts: the launches with which the collective begins, then what follows them, if anything does.
  [[nodiscard]] Status enqueue_begin(const CommRoute& route, const std::vector<StreamHandle>& streams) const;
  [[nodiscard]] Status enqueue_rest(const CommRoute& route, const std::vector<StreamHandle>& streams) const;

  /// Fills every receive buffer with NaN and waits.
  [[nodiscard]] Status poison() const;
  /// Compares every received element on every device with its exact reference; waits.
  [[nodiscard]] Status verify() const;

 private:
  struct Rank {
    Memory send;
    Memory recv;
  };
  CollectiveBuffers(Platform& platform, const CommLibrary& comm, const Collective& collective, int gpus, std::uint64_t seed)
      : platform_(&platform), comm_(&comm), collective_(collective), gpus_(gpus), seed_(seed) {}
  Status add_rank(int rank);

  /// What one rank calls.
  struct Call {
    const Rank& rank;
    int index;
    CommHandle comm;
    StreamHandle stream;
  };
  using RankCall = Status (CollectiveBuffers::*)(const Call&) const;

  /// `each` for every rank, in one group.
  Status enqueue_group(const Communicators& comms, const std::vector<StreamHandle>& streams, RankCall each) const;
  Status whole(const Call& rank) const;
  Status exchange(const Call& rank) const;
  Status exchange_at_once(const Call& rank) const;
  Status scatter_sums(const Call& rank) const;
  Status gather_sums(const Call& rank) const;
  /// Where in the rank's receive buffer its share of the whole belongs.
  void* own_share(const Call& rank) const;

  [[nodiscard]] std::size_t elements() const;
  [[nodiscard]] std::size_t share() const;
  [[nodiscard]] int type() const;

  Platform* platform_;
  const CommLibrary* comm_;
  Collective collective_;
  int gpus_;
  std::uint64_t seed_;
  std::vector<Rank> ranks_;
};

}  // namespace elbowroom::gpu
