#pragma once

#include <optional>
#include <vector>

#include "backend_hip/hip_library.hpp"
#include "backend_hip/rccl_library.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::hip {

/// One RCCL communicator per device 0..ranks-1, all driven by this process. Making one takes about a second.
class Communicators {
 public:
  /// `comm_blocks`: what a collective's kernel may have, fixed when they are made; absent: RCCL's own choice. A budget needs a
  /// library that has_block_budgets(). Both libraries outlive the communicators.
  static Result<Communicators> make(const HipLibrary& hip, const RcclLibrary& rccl, int ranks,
                                    const std::optional<Blocks>& comm_blocks);
  Communicators(Communicators&& other) noexcept = default;
  Communicators& operator=(Communicators&&) = delete;
  ~Communicators();

  [[nodiscard]] RcclComm rank(int index) const { return comms_[static_cast<std::size_t>(index)]; }

  /// The first error that RCCL met after its calls had returned.
  [[nodiscard]] Status asynchronous_error() const;

  /// Ends all running collectives and gives the communicators up; the only call that helps against a hang.
  void abort();

 private:
  explicit Communicators(const RcclLibrary& rccl) : rccl_(&rccl) {}

  const RcclLibrary* rccl_;
  std::vector<RcclComm> comms_;
};

}  // namespace elbowroom::hip
