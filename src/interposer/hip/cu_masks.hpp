#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <optional>

#include "interposer/core/core.hpp"
#include "interposer/core/own_mutex.hpp"
#include "interposer/core/table.hpp"

namespace elbowroom::interposer::hip {

/// Compute units that a stream of the program is kept to. `units`: at least 1, which it is as well where it is not known.
struct CuMask {
  int device = -1;
  std::uint32_t units = 1;
};

/// Streams of the program that run on some compute units of their device alone: those of hipExtStreamCreateWithCUMask and of green
/// contexts. Where the environment gives all streams a mask, each device counts as one of a single compute unit.
class CuMasks {
 public:
  CuMasks() : unknown_(is_set("ROC_GLOBAL_CU_MASK") || is_set("HSA_CU_MASK")) {}

  /// A stream for which there is no room counts as one of a single compute unit, for good.
  void add(StreamId stream, const CuMask& mask) {
    const std::lock_guard lock(mutex_);
    CuMask* entry = streams_.obtain(stream);
    if (entry == nullptr) {
      unknown_.store(true, std::memory_order_relaxed);
      return;
    }
    *entry = mask;
    find_least(mask.device);
  }
  /// The mask that it had.
  std::optional<CuMask> remove(StreamId stream) {
    const std::lock_guard lock(mutex_);
    const CuMask* entry = streams_.find(stream);
    if (entry == nullptr) { return std::nullopt; }
    const CuMask mask = *entry;
    streams_.erase(stream);
    find_least(mask.device);
    return mask;
  }
  /// Of the device's streams with a mask, the fewest compute units of one; 0: none has a mask. Lock-free.
  [[nodiscard]] std::uint32_t least(int device) const {
    return unknown_.load(std::memory_order_relaxed) ? 1 : least_[place_of(device)].load(std::memory_order_relaxed);
  }

 private:
  static bool is_set(const char* variable) {
    const char* const value = std::getenv(variable);
    return value != nullptr && *value != '\0';
  }
  static constexpr std::size_t kDevices = 64;
  static std::size_t place_of(int device) { return static_cast<unsigned>(device) % kDevices; }
  void find_least(int device) {  // with the lock held
    std::uint32_t least = 0;
    streams_.for_each([&](std::uint64_t, const CuMask& each) {
      if (each.device == device) { least = least == 0 ? each.units : std::min(least, each.units); }
    });
    least_[place_of(device)].store(least, std::memory_order_relaxed);
  }

  OwnMutex mutex_;
  FixedTable<CuMask, 1024> streams_{};
  std::array<std::atomic<std::uint32_t>, kDevices> least_{};
  std::atomic<bool> unknown_;
};

}  // namespace elbowroom::interposer::hip
