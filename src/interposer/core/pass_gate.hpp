#pragma once

#include <atomic>
#include <cstdint>

namespace elbowroom::interposer {

class PassingShapes;

/// What a launch looks at first where no rest is: whether anything happened since its thread was told that nothing needs it.
/// Never destroyed before the process is; stands beside the gate of a rest in cuda/launch_gate.hpp.
struct PassGate {
  std::atomic<std::uint64_t> round{0};                ///< what threads were told in an earlier one is void; see PassingShapes::era
  std::atomic<const PassingShapes*> shapes{nullptr};  ///< not null where a thread was told something
};

/// One moment on both of the host's clocks.
struct HostTime {
  std::uint64_t nanoseconds = 0;  ///< of the monotonic clock
  std::uint64_t ticks = 0;        ///< of the counter that a launch by the short way reads
};

}  // namespace elbowroom::interposer
