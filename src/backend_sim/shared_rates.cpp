#include "backend_sim/shared_rates.hpp"

#include <algorithm>
#include <cmath>

namespace elbowroom::sim {
namespace {

// Bytes of device memory per byte that a copy sends: what is read, and what arrives from a peer that does the same.
constexpr double kCopyTraffic = 2.0;
// Of the memory's rate, so that blocks always get on.
constexpr double kMostForCopies = 0.5;

/// The curve between whole numbers of blocks: a communication block counts as a part of a compute block.
double at_load(const std::vector<double>& tile_time, double load) {
  const double position = std::max(load, 1.0) - 1.0;
  const auto below = static_cast<std::size_t>(position);
  const std::size_t last = tile_time.size() - 1;
  if (below >= last) {
    const double slope = last == 0 ? 0.0 : std::max(tile_time[last] - tile_time[last - 1], 0.0);
    return tile_time[last] + slope * (position - static_cast<double>(last));
  }
  const double part = position - static_cast<double>(below);
  return tile_time[below] * (1.0 - part) + tile_time[below + 1] * part;
}

/// 1 without demand, demand / rate far beyond it, smooth between.
double stretch(double demand, double rate, double knee) { return std::pow(1.0 + std::pow(demand / rate, knee), 1.0 / knee); }

/// What becomes of a time of which `share` waits for memory.
double waiting(double share, double latency) { return 1.0 - share + share * latency; }

}  // namespace

double copy_rate(const Machine& machine) {
  return std::min(machine.copy_rate, kMostForCopies * machine.memory_rate / kCopyTraffic);
}

SharedRates::SharedRates(const Machine& machine, const SmCapacity& capacity, const ComputeProfile& compute, const CommProfile& comm)
    : machine_(machine), compute_(compute), comm_(comm), row_(static_cast<std::size_t>(capacity.most_compute()) + 1) {
  for (int with_comm = 0; with_comm <= capacity.most_comm(); ++with_comm) {
    for (int with_compute = 0; with_compute <= capacity.most_compute(); ++with_compute) {
      Mix mix{with_compute, with_comm, 0, 0};
      mix.tile_time = at_load(compute.tile_time, with_compute + with_comm * comm.issue_share);
      mix.comm_ceiling = comm.block_rate / stretch(with_comm * comm.block_rate, comm.sm_rate, machine.link_knee);
      mixes_.push_back(mix);
    }
  }
  sms_with_.assign(mixes_.size(), 0);
  tile_rate_.assign(mixes_.size(), 0);
  comm_rate_.assign(mixes_.size(), 0);
}

SharedRates::Device SharedRates::device_factors() const {
  double compute_demand = 0;
  double comm_demand = 0;
  for (std::size_t at = 0; at < mixes_.size(); ++at) {
    if (sms_with_[at] == 0) continue;
    const Mix& mix = mixes_[at];
    compute_demand += sms_with_[at] * mix.compute * compute_.traffic / mix.tile_time;
    comm_demand += sms_with_[at] * mix.comm * mix.comm_ceiling;
  }
  const double on_links = comm_demand / stretch(comm_demand, comm_.link_rate, machine_.link_knee);
  Device factors;
  factors.copying = memory_for_copies();
  factors.latency =
      stretch(compute_demand + on_links * comm_.traffic + factors.copying, machine_.memory_rate, machine_.memory_knee);
  // Blocks that memory slows down press less on the links.
  const double slowed = comm_demand / waiting(comm_.memory_share, factors.latency);
  factors.link = 1.0 / stretch(slowed, comm_.link_rate, machine_.link_knee);
  return factors;
}

bool SharedRates::update() {
  const Device factors = device_factors();
  if (factors == factors_) return false;
  factors_ = factors;
  set_rates();
  const double use = memory_use();
  const double left = machine_.memory_rate - factors.copying;
  if (use > left) {
    const double throttle = left / use;
    for (double& rate : tile_rate_) rate *= throttle;
    for (double& rate : comm_rate_) rate *= throttle;
  }
  return true;
}

void SharedRates::set_rates() {
  const double tile_wait = waiting(compute_.memory_share, factors_.latency);
  const double comm_wait = waiting(comm_.memory_share, factors_.latency) / factors_.link;
  for (std::size_t at = 0; at < mixes_.size(); ++at) {
    const Mix& mix = mixes_[at];
    tile_rate_[at] = 1.0 / (mix.tile_time * tile_wait);
    if (mix.comm > 0) comm_rate_[at] = 1.0 / (comm_.slowdown * (comm_.startup + comm_.bytes * comm_wait / mix.comm_ceiling));
  }
}

double SharedRates::memory_for_copies() const { return copying_ * kCopyTraffic; }

double SharedRates::memory_use() const {
  double use = link_use() * comm_.traffic;
  for (std::size_t at = 0; at < mixes_.size(); ++at) {
    use += sms_with_[at] * mixes_[at].compute * compute_.traffic * tile_rate_[at];
  }
  return use;
}

double SharedRates::link_use() const {
  double use = 0;
  for (std::size_t at = 0; at < mixes_.size(); ++at) use += sms_with_[at] * mixes_[at].comm * comm_.bytes * comm_rate_[at];
  return use;
}

}  // namespace elbowroom::sim
