#pragma once

#include <optional>
#include <vector>

#include "elbowroom/base/result.hpp"
#include "elbowroom/model/device_limits.hpp"
#include "elbowroom/model/kernel_footprint.hpp"

namespace elbowroom::sim {

/// Which mixes of resident compute and communication blocks one SM can hold: the resource vectors of plan/, as a table.
class SmCapacity {
 public:
  /// `carveout`: share of the SM's memory that the compute kernel prefers as shared memory; absent: what its residency needs.
  /// `invalid_input` as occupancy() gives it when one of the two kernels cannot run on the device.
  static Result<SmCapacity> make(const DeviceLimits& device, const KernelFootprint& compute, const KernelFootprint& comm,
                                 std::optional<Percent> carveout = std::nullopt);

  /// Most compute blocks beside `comm` resident communication blocks; -1 where that many do not fit by themselves.
  [[nodiscard]] int compute_beside(int comm) const {
    return comm < static_cast<int>(compute_.size()) ? compute_[static_cast<std::size_t>(comm)] : -1;
  }
  [[nodiscard]] int most_compute() const { return compute_.front(); }
  [[nodiscard]] int most_comm() const { return static_cast<int>(compute_.size()) - 1; }
  [[nodiscard]] bool fits(int compute, int comm) const { return compute <= compute_beside(comm); }

 private:
  std::vector<int> compute_;  ///< by number of communication blocks
};

}  // namespace elbowroom::sim
