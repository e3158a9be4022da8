#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interposer/core/core.hpp"
#include "interposer/core/table.hpp"

namespace elbowroom::interposer {

/// While the program as it is runs best, nothing need be known of its launches but which of them are collectives: these count its steps
/// until the next comparison. What is no collective is remembered here, so that a launch costs a look at two cache lines and no lock.
class Rest {
 public:
  [[nodiscard]] bool on() const { return on_.load(std::memory_order_acquire); }

  /// Whether a launch of the function may go as it is without anything being said or asked of it; counts those that may.
  [[nodiscard]] bool covers(FunctionId function) {
    if (!on() || known_[place(function)].load(std::memory_order_relaxed) != function) { return false; }
    launches_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  [[nodiscard]] std::uint64_t launches() const { return launches_.load(std::memory_order_relaxed); }

  // With the core's lock held:
  void begin() { on_.store(true, std::memory_order_release); }
  void end() { on_.store(false, std::memory_order_release); }
  /// The function is no collective. Takes the place of another now and then, which is then asked for again.
  void remember(FunctionId function) { known_[place(function)].store(function, std::memory_order_relaxed); }
  /// Function handles may now mean something else.
  void forget_functions() {
    for (std::atomic<FunctionId>& known : known_) { known.store(0, std::memory_order_relaxed); }
  }
  void reset() {
    end();
    forget_functions();
    launches_.store(0, std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t kPlaces = 2048;
  static std::size_t place(FunctionId function) { return mix(function) % kPlaces; }

  alignas(kCacheLine) std::atomic<bool> on_{false};
  std::atomic<std::uint64_t> launches_{0};
  alignas(kCacheLine) std::array<std::atomic<FunctionId>, kPlaces> known_{};
};

}  // namespace elbowroom::interposer
