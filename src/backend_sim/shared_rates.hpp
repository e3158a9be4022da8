#pragma once

#include <vector>

#include "backend_sim/kernel_profiles.hpp"
#include "backend_sim/machine.hpp"
#include "backend_sim/sm_capacity.hpp"

namespace elbowroom::sim {

/// Bytes per microsecond that a copy to peers sends, whatever else runs.
double copy_rate(const Machine& machine);

/// How fast every resident block progresses, given how many SMs hold which mix of blocks.
///
/// On an SM the tile time follows the kernel's own curve over resident blocks. Across the device, memory demand raises the memory's
/// latency, which stretches each block's share of waiting: who has more requests in flight gets more, as with real memory. When
/// blocks would still move more than the rate, all are throttled alike. The links are shared by the communication blocks.
class SharedRates {
 public:
  SharedRates(const Machine& machine, const SmCapacity& capacity, const ComputeProfile& compute, const CommProfile& comm);

  void add(int compute, int comm, int sms) { sms_with_[index(compute, comm)] += sms; }

  /// Whether a copy to peers is under way.
  void set_copying(bool copying) { copying_ = copying ? copy_rate(machine_) : 0; }

  /// Recomputes the device-wide factors from the current mixes; true when rates changed.
  bool update();

  /// Tiles per microsecond of one compute block on an SM with this mix.
  [[nodiscard]] double tile_rate(int compute, int comm) const { return tile_rate_[index(compute, comm)]; }
  /// Shares of the collective per microsecond of one communication block.
  [[nodiscard]] double comm_rate(int compute, int comm) const { return comm_rate_[index(compute, comm)]; }

  /// Bytes per microsecond that the resident blocks move now, and that a copy does.
  [[nodiscard]] double memory_use() const;
  [[nodiscard]] double memory_for_copies() const;
  [[nodiscard]] double link_use() const;

 private:
  struct Mix {
    int compute = 0;
    int comm = 0;
    double tile_time = 0;     ///< unloaded
    double comm_ceiling = 0;  ///< of one communication block, unloaded
  };
  struct Device {
    double latency = 0;  ///< of memory, relative to unloaded
    double link = 0;     ///< share of its ceiling that a communication block gets on the links
    double copying = 0;
    bool operator==(const Device&) const = default;
  };

  [[nodiscard]] std::size_t index(int compute, int comm) const {
    return static_cast<std::size_t>(comm) * row_ + static_cast<std::size_t>(compute);
  }
  [[nodiscard]] Device device_factors() const;
  void set_rates();

  const Machine& machine_;
  const ComputeProfile& compute_;
  const CommProfile& comm_;
  std::size_t row_;
  std::vector<Mix> mixes_;
  std::vector<int> sms_with_;  ///< by mix, as everything below
  std::vector<double> tile_rate_;
  std::vector<double> comm_rate_;
  Device factors_;
  double copying_ = 0;  ///< bytes per microsecond
};

}  // namespace elbowroom::sim
