#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interposer/core/collectives.hpp"

namespace elbowroom::interposer::driver {

/// The fewest SMs (on AMD compute units) that any part of a device was ever kept to: a green context, or a stream with a mask. A
/// part that is gone counts on: its kernel may outlive the call that ends it. Lock-free.
class SmallestParts {
 public:
  /// `sms`: at least 1. A device below 0 is not known, and the part counts for all.
  void note(int device, std::uint32_t sms) {
    if (device >= 0) { return lower(least_[static_cast<std::size_t>(device) % least_.size()], sms); }
    for (std::atomic<std::uint32_t>& each : least_) { lower(each, sms); }
  }
  /// A part of which nothing is known.
  void note_unknown() { note(-1, 1); }
  /// 0: the device has had none.
  [[nodiscard]] std::uint32_t of(int device) const {
    return least_[static_cast<unsigned>(device) % least_.size()].load(std::memory_order_relaxed);
  }

 private:
  static void lower(std::atomic<std::uint32_t>& least, std::uint32_t sms) {
    std::uint32_t seen = least.load(std::memory_order_relaxed);
    while ((seen == 0 || sms < seen) && !least.compare_exchange_weak(seen, sms, std::memory_order_relaxed)) {}
  }

  std::array<std::atomic<std::uint32_t>, kMaxDevices> least_{};
};

}  // namespace elbowroom::interposer::driver
