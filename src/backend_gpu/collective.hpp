#pragma once

#include <cstdint>
#include <vector>

#include "backend_gpu/collective_calls.hpp"
#include "backend_gpu/communicators.hpp"
#include "backend_gpu/handles.hpp"
#include "backend_gpu/peer_copies.hpp"
#include "backend_gpu/platform.hpp"
#include "backend_gpu/ranks_here.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/collective_facts.hpp"

namespace elbowroom::gpu {

/// What one collective goes over; all outlive its users.
struct CommRoute {
  const Communicators* sms = nullptr;      ///< its kernels; null: it has none
  const Communicators* engines = nullptr;  ///< the library's copies; null: it has none
  const PeerCopies* detour = nullptr;      ///< copies that leave no share on its device, instead of both others; null: it has none
};

/// The first error that the library met on the route after its calls had returned.
[[nodiscard]] Status asynchronous_error(const CommRoute& route);

/// A collective with the buffers of the ranks of one communicator that are here: send buffers filled once, receive buffers free to
/// poison.
class CollectiveBuffers {
 public:
  /// Platform and library outlive the buffers.
  static Result<CollectiveBuffers> make(Platform& platform, const CommLibrary& comm, const Collective& collective,
                                        const Group& group, std::uint64_t seed);

  [[nodiscard]] const Group& group() const { return group_; }

  /// Makes both buffers of every rank here known to `comms`.
  Status register_with(Communicators& comms) const;

  /// The same collective as copies between devices, all of whose ranks are here; `unavailable` where memory for those is lacking.
  /// Refers to the buffers.
  [[nodiscard]] Result<PeerCopies> as_peer_copies() const;

  /// Enqueues the collective on one stream of each rank here. Does not wait. On a route of both kinds an all-reduce is a
  /// reduce-scatter by kernels and an all-gather by copy engines, in place. Every rank's share is where it belongs by then.
  [[nodiscard]] Status enqueue(const CommRoute& route, const std::vector<StreamHandle>& streams) const;
  /// The same in two parts: the launches with which the collective begins, then what follows them, if anything does.
  [[nodiscard]] Status enqueue_begin(const CommRoute& route, const std::vector<StreamHandle>& streams) const;
  [[nodiscard]] Status enqueue_rest(const CommRoute& route, const std::vector<StreamHandle>& streams) const;

  /// Fills every receive buffer with NaN and waits.
  [[nodiscard]] Status poison() const;
  /// Compares every element that a rank here received with its exact reference; waits.
  [[nodiscard]] Status verify() const;

 private:
  struct Rank {
    RankData data;
    Memory send;  ///< null: it sends nothing
    Memory recv;  ///< null: it receives nothing
  };
  CollectiveBuffers(Platform& platform, const CommLibrary& comm, const Collective& collective, const Group& group,
                    std::uint64_t seed)
      : platform_(&platform), comm_(&comm), collective_(collective), group_(group), seed_(seed) {}
  Status add_rank(const Group::Member& member);

  /// `each` for every rank here, in one group of the library.
  Status enqueue_group(const Communicators& comms, const std::vector<StreamHandle>& streams,
                       Status (*each)(const CallingRank& rank)) const;
  Platform* platform_;
  const CommLibrary* comm_;
  Collective collective_;
  Group group_;
  std::uint64_t seed_;
  std::vector<Rank> ranks_;  ///< here
};

}  // namespace elbowroom::gpu
