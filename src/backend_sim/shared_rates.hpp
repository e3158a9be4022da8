#pragma once

#include <vector>

#include "backend_sim/kernel_profiles.hpp"
#include "backend_sim/machine.hpp"
#include "backend_sim/mix_table.hpp"

namespace elbowroom::sim {

/// Bytes per microsecond that a copy to peers sends, whatever else runs.
double copy_rate(const Machine& machine);

/// How fast every resident block progresses, given how many SMs hold which mix of blocks.
///
/// On an SM the tile time follows the kernel's own curve over resident blocks, of whatever kernel. Across the device, memory demand
/// raises the memory's latency, which stretches each block's share of waiting. A block with more requests in flight gets more, as
/// with real memory. When blocks would still move more than the rate, all are throttled alike. The links are shared by the
/// communication blocks, each part of a link's rate counting at the rate that the kernel reaches there.
class SharedRates {
 public:
  SharedRates(const Machine& machine, const std::vector<SimKernel>& kernels, MixTable& mixes);

  void add(int mix, int sms);

  /// Mixes that SMs hold.
  [[nodiscard]] const std::vector<int>& held() const { return active_; }

  /// Whether a copy to peers is under way.
  void set_copying(bool copying) { copying_ = copying ? copy_rate(machine_) : 0; }

  /// Recomputes the device-wide factors from the current mixes; true when rates changed.
  bool update();

  /// Of one block of each kernel, in the mix's order: tiles of a computation, or shares of a collective, per microsecond. Until the
  /// next update.
  [[nodiscard]] const std::vector<double>& rates(int mix);

  /// Bytes per microsecond that the resident blocks move now, and that a copy does.
  [[nodiscard]] double memory_use();
  [[nodiscard]] double memory_for_copies() const;
  /// Of the blocks of one kernel.
  [[nodiscard]] double link_use(int kernel);

 private:
  /// What a mix's blocks do on an SM, memory and links unloaded; by its shares.
  struct OnSm {
    std::vector<double> unloaded;  ///< a computation's tile time; the most bytes per microsecond of a communication block
    std::vector<double> rates;     ///< with the device's factors, of the update below
    std::int64_t update = -1;
    int sms = 0;  ///< that hold it
  };
  struct Device {
    double latency = 0;  ///< of memory, relative to unloaded
    double link = 0;     ///< share of its ceiling that a communication block gets on the links
    double copying = 0;
    bool operator==(const Device&) const = default;
  };
  struct Demand {
    int kernel = 0;
    double bytes = 0;  ///< per microsecond
  };

  [[nodiscard]] const SimKernel& kernel(const Share& share) const { return kernels_[static_cast<std::size_t>(share.kernel)]; }
  OnSm& on_sm(int mix);
  [[nodiscard]] Device device_factors();
  void set_rates(int mix, OnSm& here) const;

  const Machine& machine_;
  const std::vector<SimKernel>& kernels_;
  MixTable& mixes_;
  std::vector<OnSm> by_mix_;
  std::vector<int> active_;  ///< mixes that SMs hold, in a fixed order, so that sums are the same for the same mixes
  Device factors_;
  double throttle_ = 1;
  std::int64_t updates_ = 0;
  double copying_ = 0;  ///< bytes per microsecond
};

}  // namespace elbowroom::sim
