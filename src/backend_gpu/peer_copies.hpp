#pragma once

#include <vector>

#include "backend_gpu/comm_library.hpp"
#include "backend_gpu/handles.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/scenario.hpp"

namespace elbowroom::gpu {

/// An all_gather or all_to_all of some devices as copies between devices alone. The driver copies within a device by a kernel,
/// whatever it is asked for. So each rank's own share goes to a peer and comes back. Copy engines do all of it.
class PeerCopies {
 public:
  /// Buffers of a rank, which outlive the copies and which every device can reach.
  struct Rank {
    int device;
    const void* send;
    void* recv;
  };

  /// `share`: what one rank has for another. An all_to_all takes that much more memory on each device.
  static Result<PeerCopies> make(const Runtime& runtime, const CommLibrary& comm, CollectiveOp op, Bytes share,
                                 std::vector<Rank> ranks);

  /// Enqueues the collective on one stream per device. It begins when all streams have come to it, and each goes on when all have
  /// done their part. Does not wait.
  [[nodiscard]] Status enqueue(const std::vector<StreamHandle>& streams) const;

 private:
  PeerCopies(const Runtime& runtime, CollectiveOp op, Bytes share, std::vector<Rank> ranks);

  struct Copy {
    void* to;
    const void* from;
  };
  /// Of rank `rank`, in their order.
  [[nodiscard]] std::vector<Copy> copies_of(std::size_t rank) const;
  [[nodiscard]] Status use(std::size_t rank) const { return runtime_->use_device(ranks_[rank].device); }
  /// Makes every stream wait for all others.
  [[nodiscard]] Status meet(const std::vector<Event>& events, const std::vector<StreamHandle>& streams) const;

  const Runtime* runtime_;
  CollectiveOp op_;
  std::size_t share_;  ///< bytes
  std::vector<Rank> ranks_;
  std::vector<Memory> staged_;  ///< of an all_to_all, each rank's own share at its peer
  std::vector<Event> ready_;
  std::vector<Event> done_;
};

}  // namespace elbowroom::gpu
