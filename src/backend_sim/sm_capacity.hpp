#pragma once

#include <utility>
#include <vector>

#include "backend_sim/kernel_profiles.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/device_limits.hpp"

namespace elbowroom::sim {

/// Blocks of one kernel.
struct Share {
  int kernel = 0;  ///< index
  int count = 0;   ///< at least one
  auto operator<=>(const Share&) const = default;
};

/// What is resident on one SM: each kernel once, in ascending order.
using Mix = std::vector<Share>;

/// The mix with `change` more blocks of the kernel.
Mix with(const Mix& mix, int kernel, int change);

/// Which mixes of resident blocks one SM can hold: the resource vectors of plan/.
///
/// While computations are resident the SM's shared memory is split as the most demanding of them needs it at its own residency. Its
/// carve-out goes before that. Everything else must fit that split. Blocks beside a kernel's own count together as one, of the
/// greatest registers per warp among them.
class SmCapacity {
 public:
  /// `invalid_input` as occupancy() gives it when a kernel cannot run on the device.
  static Result<SmCapacity> make(const DeviceLimits& device, const std::vector<SimKernel>& kernels);

  [[nodiscard]] bool fits(const Mix& mix) const;
  /// More blocks of the kernel that an SM with this mix, which fits, can hold.
  [[nodiscard]] int room(const Mix& mix, int kernel) const;
  /// Most blocks of the kernel by itself.
  [[nodiscard]] int most(int kernel) const { return alone_[static_cast<std::size_t>(kernel)]; }

 private:
  struct Kernel {
    KernelFootprint footprint;
    bool computes = false;
    Bytes split;  ///< shared memory of an SM while this computation is resident
  };

  [[nodiscard]] const Kernel& of(const Share& share) const { return kernels_[static_cast<std::size_t>(share.kernel)]; }
  [[nodiscard]] DeviceLimits split_for(const Mix& mix) const;
  [[nodiscard]] int most_beside(int kernel, const Mix& others, const DeviceLimits& split) const;

  DeviceLimits device_;
  std::vector<Kernel> kernels_;
  std::vector<int> alone_;
};

}  // namespace elbowroom::sim
