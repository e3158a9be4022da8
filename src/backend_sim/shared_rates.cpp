#include "backend_sim/shared_rates.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

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

/// Whether the first of two mixes comes first in sums: by the kernel that was added last.
bool before(const Mix& a, const Mix& b) { return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend()); }

bool waits(const SimKernel& kernel) { return !kernel.computes() && kernel.comm().waits; }

bool on_links(const SimKernel& kernel) { return !kernel.computes() && kernel.comm().link_rate < kNoLimit; }

/// 1 without demand, demand / rate far beyond it, smooth between.
double stretch(double demand, double rate, double knee) { return std::pow(1.0 + std::pow(demand / rate, knee), 1.0 / knee); }

/// What becomes of a time of which `share` waits for memory.
double waiting(double share, double latency) { return 1.0 - share + share * latency; }

}  // namespace

double copy_rate(const Machine& machine) {
  return std::min(machine.copy_rate, kMostForCopies * machine.memory_rate / kCopyTraffic);
}

SharedRates::SharedRates(const Machine& machine, const std::vector<SimKernel>& kernels, MixTable& mixes)
    : machine_(machine), kernels_(kernels), mixes_(mixes) {}

SharedRates::OnSm& SharedRates::on_sm(int mix) {
  while (by_mix_.size() < mixes_.size()) {
    const Mix& shares = mixes_.mix(static_cast<int>(by_mix_.size()));
    double load = 0;
    double comm_demand = 0;
    for (const Share& share : shares) { load += kernel(share).computes() ? share.count : 0; }
    for (const Share& share : shares) {
      if (kernel(share).computes()) { continue; }
      load += share.count * kernel(share).comm().issue_share;
      if (!waits(kernel(share))) { comm_demand += share.count * kernel(share).comm().block_rate; }
    }
    OnSm made;
    for (const Share& share : shares) {
      if (kernel(share).computes()) {
        made.unloaded.push_back(at_load(kernel(share).compute().tile_time, load));
      } else {
        const CommProfile& comm = kernel(share).comm();
        made.unloaded.push_back(comm.block_rate / stretch(comm_demand, comm.sm_rate, machine_.link_knee));
      }
    }
    by_mix_.push_back(std::move(made));
  }
  return by_mix_[static_cast<std::size_t>(mix)];
}

void SharedRates::add(int mix, int sms) {
  OnSm& here = on_sm(mix);
  const bool held = here.sms > 0;
  here.sms += sms;
  if (held == (here.sms > 0)) { return; }
  const auto found =
      std::ranges::lower_bound(active_, mixes_.mix(mix), before, [this](int other) -> const Mix& { return mixes_.mix(other); });
  if (held) {
    active_.erase(found);
  } else {
    active_.insert(found, mix);
  }
}

SharedRates::Device SharedRates::device_factors() {
  double compute_demand = 0;
  std::vector<Demand> comm;
  for (const int mix : active_) {
    const OnSm& here = on_sm(mix);
    const Mix& shares = mixes_.mix(mix);
    for (std::size_t at = 0; at < shares.size(); ++at) {
      const Share& share = shares[at];
      if (kernel(share).computes()) {
        compute_demand += here.sms * share.count * kernel(share).compute().traffic / here.unloaded[at];
        continue;
      }
      if (waits(kernel(share))) { continue; }
      auto known = std::ranges::find(comm, share.kernel, &Demand::kernel);
      if (known == comm.end()) { known = comm.insert(known, {share.kernel, 0}); }
      known->bytes += here.sms * share.count * here.unloaded[at];
    }
  }
  // What part of the links' time is asked for, by all or after what memory lets through.
  const auto link_stretch = [&](double latency) {
    double asked = 0;
    for (const Demand& demand : comm) {
      const SimKernel& kernel = kernels_[static_cast<std::size_t>(demand.kernel)];
      if (!on_links(kernel)) { continue; }
      const double bytes = latency > 0 ? demand.bytes / waiting(kernel.comm().memory_share, latency) : demand.bytes;
      asked += bytes / kernel.comm().link_rate;
    }
    return stretch(asked, 1, machine_.link_knee);
  };
  const double crowded = link_stretch(0);
  double memory = compute_demand;
  for (const Demand& demand : comm) {
    const SimKernel& kernel = kernels_[static_cast<std::size_t>(demand.kernel)];
    memory += demand.bytes / (on_links(kernel) ? crowded : 1.0) * kernel.comm().traffic;
  }
  Device factors;
  factors.copying = memory_for_copies();
  factors.latency = stretch(memory + factors.copying, machine_.memory_rate, machine_.memory_knee);
  // Blocks that memory slows down press less on the links.
  factors.link = 1.0 / link_stretch(factors.latency);
  return factors;
}

bool SharedRates::update() {
  const Device factors = device_factors();
  if (factors == factors_) { return false; }
  factors_ = factors;
  throttle_ = 1;
  ++updates_;
  const double use = memory_use();
  const double left = machine_.memory_rate - factors.copying;
  if (use > left) {
    throttle_ = left / use;
    ++updates_;
  }
  return true;
}

void SharedRates::set_rates(int mix, OnSm& here) const {
  const Mix& shares = mixes_.mix(mix);
  here.rates.clear();
  for (std::size_t at = 0; at < shares.size(); ++at) {
    const SimKernel& kernel = this->kernel(shares[at]);
    double rate = 0;
    if (kernel.computes()) {
      rate = 1.0 / (here.unloaded[at] * waiting(kernel.compute().memory_share, factors_.latency));
    } else if (!waits(kernel)) {
      const CommProfile& comm = kernel.comm();
      const double wait = waiting(comm.memory_share, factors_.latency) / (on_links(kernel) ? factors_.link : 1.0);
      rate = 1.0 / (comm.slowdown * (comm.startup + comm.bytes * wait / here.unloaded[at]));
    }
    here.rates.push_back(rate * throttle_);
  }
  here.update = updates_;
}

const std::vector<double>& SharedRates::rates(int mix) {
  OnSm& here = on_sm(mix);
  if (here.update != updates_) { set_rates(mix, here); }
  return here.rates;
}

double SharedRates::memory_for_copies() const { return copying_ * kCopyTraffic; }

double SharedRates::memory_use() {
  double use = 0;
  for (const bool computing : {false, true}) {
    for (const int mix : active_) {
      const Mix& shares = mixes_.mix(mix);
      for (std::size_t at = 0; at < shares.size(); ++at) {
        const SimKernel& what = kernel(shares[at]);
        if (what.computes() != computing) { continue; }
        const double progress = on_sm(mix).sms * shares[at].count * rates(mix)[at];
        use += computing ? progress * what.compute().traffic : progress * what.comm().bytes * what.comm().traffic;
      }
    }
  }
  return use;
}

double SharedRates::link_use(int kernel) {
  double use = 0;
  for (const int mix : active_) {
    const Mix& shares = mixes_.mix(mix);
    for (std::size_t at = 0; at < shares.size(); ++at) {
      if (shares[at].kernel == kernel) {
        use += on_sm(mix).sms * shares[at].count * this->kernel(shares[at]).comm().bytes * rates(mix)[at];
      }
    }
  }
  return use;
}

}  // namespace elbowroom::sim
