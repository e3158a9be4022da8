#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interposer/core/core.hpp"
#include "interposer/core/table.hpp"

namespace elbowroom::interposer {

/// While the program as it is runs best, nothing need be known of its launches but which of them are collectives. These count its
/// steps until the next comparison. What is no collective is remembered here, so that a launch costs a look at two cache lines and
/// no lock.
class Rest {
 public:
  /// `gate`: where others read it; null: nobody does.
  explicit Rest(RestGate* gate) : gate_(gate == nullptr ? own_gate_ : *gate) {}

  [[nodiscard]] bool on() const { return gate_.known.load(std::memory_order_acquire) != nullptr; }

  /// Whether a launch of the function may go as it is without anything being said or asked of it; counts those that may.
  [[nodiscard]] bool covers(FunctionId function) {
    const std::atomic<FunctionId>* known = gate_.known.load(std::memory_order_acquire);
    if (known == nullptr || known[RestGate::place(function)].load(std::memory_order_relaxed) != function) { return false; }
    gate_.launches.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  [[nodiscard]] std::uint64_t launches() const { return gate_.launches.load(std::memory_order_relaxed); }

  // With the core's lock held:
  void begin() { gate_.known.store(known_.data(), std::memory_order_release); }
  void end() { gate_.known.store(nullptr, std::memory_order_release); }
  /// The function is no collective. Takes the place of another now and then, which is then asked for again.
  void remember(FunctionId function) { known_[RestGate::place(function)].store(function, std::memory_order_relaxed); }
  /// Function handles may now mean something else.
  void forget_functions() {
    for (std::atomic<FunctionId>& known : known_) { known.store(0, std::memory_order_relaxed); }
  }
  void reset() {
    end();
    forget_functions();
    gate_.launches.store(0, std::memory_order_relaxed);
  }

 private:
  RestGate own_gate_;
  RestGate& gate_;
  alignas(kCacheLine) std::array<std::atomic<FunctionId>, RestGate::kPlaces> known_{};
};

}  // namespace elbowroom::interposer
