#pragma once

#include <cstdint>
#include <vector>

#include "backend_gpu/collective_calls.hpp"
#include "backend_gpu/communicators.hpp"
#include "backend_gpu/handles.hpp"
#include "backend_gpu/peer_copies.hpp"
#include "backend_gpu/platform.hpp"
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

/// A collective with its buffers on the devices of one communicator, by rank: send buffers filled once, receive buffers free to
/// poison.
class CollectiveBuffers {
 public:
  /// Platform and library outlive the buffers. `devices`: of the ranks, in the communicator's order.
  static Result<CollectiveBuffers> make(Platform& platform, const CommLibrary& comm, const Collective& collective,
                                        const std::vector<int>& devices, std::uint64_t seed);

  /// In the communicator's order.
  [[nodiscard]] const std::vector<int>& devices() const { return devices_; }

  /// Makes both buffers of every rank known to `comms`.
  Status register_with(Communicators& comms) const;

  /// The same collective as copies between devices; `unavailable` where memory for those is lacking. Refers to the buffers.
  [[nodiscard]] Result<PeerCopies> as_peer_copies() const;

  /// Enqueues the collective on one stream per rank. Does not wait. On a route of both kinds an all-reduce is a reduce-scatter by
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
    RankData data;
    Memory send;  ///< null: it sends nothing
    Memory recv;  ///< null: it receives nothing
  };
  CollectiveBuffers(Platform& platform, const CommLibrary& comm, const Collective& collective, const std::vector<int>& devices,
                    std::uint64_t seed)
      : platform_(&platform), comm_(&comm), collective_(collective), devices_(devices), seed_(seed) {}
  Status add_rank(int rank);

  /// `each` for every rank, in one group.
  Status enqueue_group(const Communicators& comms, const std::vector<StreamHandle>& streams,
                       Status (*each)(const CallingRank& rank)) const;
  [[nodiscard]] int size() const { return static_cast<int>(devices_.size()); }

  Platform* platform_;
  const CommLibrary* comm_;
  Collective collective_;
  std::vector<int> devices_;
  std::uint64_t seed_;
  std::vector<Rank> ranks_;
};

}  // namespace elbowroom::gpu
