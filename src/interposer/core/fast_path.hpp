#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interposer/core/handles.hpp"

namespace elbowroom::interposer {

/// What every launch reads first: which kernels need nobody's attention now. A kernel that is known to be no collective and to have
/// no cap goes on to the driver where the launch is too small to keep a collective from starting. It is counted, and nothing else
/// is done: a compute launch changes no order that is followed. Written with the core's lock held, and read without it.
class alignas(64) FastPath {
 public:
  static constexpr std::uint32_t kEveryLaunch = 0xffffffff;

  /// Counts the launch where those of any size go on.
  [[nodiscard]] bool take_at_rest(FunctionId function) {
    return most_blocks_.load(std::memory_order_acquire) == kEveryLaunch && count(function);
  }
  /// Counts the launch if it is small. `blocks`: of its grid.
  [[nodiscard]] bool take(FunctionId function, std::uint64_t blocks) {
    return blocks <= most_blocks_.load(std::memory_order_acquire) && count(function);
  }
  /// Counts a launch of any size.
  [[nodiscard]] bool take_settled(FunctionId function, StreamId stream) {
    return stream == settled_stream_ && settled_round_ == round_.load(std::memory_order_acquire) && count(function);
  }

  // --- with the core's lock held ---
  /// `index`: of the kernel. Takes the place of another now and then, of which `tell` is told what was counted.
  template <class Tell>
  void add(FunctionId function, std::uint16_t index, Tell tell) {
    Kernel& kernel = kernels_[place(function)];
    kernel.function.store(0, std::memory_order_release);
    tell_one(kernel, tell);
    kernel.index = index;
    kernel.function.store(function, std::memory_order_release);
  }
  template <class Tell>
  void tell_counts(Tell tell) {
    for (Kernel& kernel : kernels_) { tell_one(kernel, tell); }
  }
  template <class Tell>
  void forget_functions(Tell tell) {
    for (Kernel& kernel : kernels_) { kernel.function.store(0, std::memory_order_release); }
    tell_counts(tell);
  }
  /// Launches of larger grids are asked about. What threads were told before is void.
  void ask_above(std::uint32_t blocks) {
    round_.fetch_add(1, std::memory_order_acq_rel);
    most_blocks_.store(blocks, std::memory_order_release);
  }
  /// For the calling thread: no further launch on the stream needs a question, for as long as nothing else happens.
  void settle(StreamId stream) {
    settled_stream_ = stream;
    settled_round_ = round_.load(std::memory_order_relaxed);
  }

 private:
  static constexpr unsigned kPlaceBits = 11;

  struct Kernel {  // a quarter of a line
    std::atomic<FunctionId> function{0};
    std::atomic<std::uint32_t> launches{0};
    std::uint16_t index = 0;
  };
  bool count(FunctionId function) {
    Kernel& kernel = kernels_[place(function)];
    if (kernel.function.load(std::memory_order_acquire) != function) { return false; }
    kernel.launches.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  static std::size_t place(FunctionId function) { return (function * 0x9e3779b97f4a7c15U) >> (64U - kPlaceBits); }
  template <class Tell>
  static void tell_one(Kernel& kernel, Tell tell) {
    const std::uint32_t launches = kernel.launches.exchange(0, std::memory_order_relaxed);
    if (launches != 0) { tell(kernel.index, std::uint64_t{launches}); }
  }

  static inline thread_local constinit StreamId settled_stream_ = 0;
  static inline thread_local constinit std::uint64_t settled_round_ = 0;

  std::atomic<std::uint32_t> most_blocks_{0};
  std::atomic<std::uint64_t> round_{0};
  std::array<Kernel, std::size_t{1} << kPlaceBits> kernels_{};
};

}  // namespace elbowroom::interposer
