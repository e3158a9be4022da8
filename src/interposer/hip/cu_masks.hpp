#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "interposer/core/core.hpp"
#include "interposer/core/own_mutex.hpp"
#include "interposer/core/table.hpp"

namespace elbowroom::interposer::hip {

/// Streams of the program that run on some compute units of their device alone (hipExtStreamCreateWithCUMask).
class CuMasks {
 public:
  /// `units`: how many. A stream for which there is no room counts as one of a single compute unit, for good.
  void add(StreamId stream, int device, std::uint32_t units) {
    const std::lock_guard lock(mutex_);
    Entry* entry = streams_.obtain(stream);
    if (entry == nullptr) {
      unknown_.store(true, std::memory_order_relaxed);
      return;
    }
    *entry = {device, units};
    find_least(device);
  }
  void remove(StreamId stream) {
    const std::lock_guard lock(mutex_);
    const Entry* entry = streams_.find(stream);
    if (entry == nullptr) { return; }
    const int device = entry->device;
    streams_.erase(stream);
    find_least(device);
  }
  /// Of the device's streams with a mask, the fewest compute units of one; 0: none has a mask. Lock-free.
  [[nodiscard]] std::uint32_t least(int device) const {
    return unknown_.load(std::memory_order_relaxed) ? 1 : least_[place_of(device)].load(std::memory_order_relaxed);
  }

 private:
  struct Entry {
    int device = -1;
    std::uint32_t units = 0;
  };

  static constexpr std::size_t kDevices = 64;
  static std::size_t place_of(int device) { return static_cast<unsigned>(device) % kDevices; }
  void find_least(int device) {  // with the lock held
    std::uint32_t least = 0;
    streams_.for_each([&](std::uint64_t, const Entry& each) {
      if (each.device == device) { least = least == 0 ? each.units : std::min(least, each.units); }
    });
    least_[place_of(device)].store(least, std::memory_order_relaxed);
  }

  OwnMutex mutex_;
  FixedTable<Entry, 1024> streams_{};
  std::array<std::atomic<std::uint32_t>, kDevices> least_{};
  std::atomic<bool> unknown_{false};
};

}  // namespace elbowroom::interposer::hip
