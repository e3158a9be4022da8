#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/plan/launch_settings.hpp"

namespace elbowroom {

/// Which operations of a step are launched, and in which relation.
/// `compute_only`, `comm_only`: one side, in the step's order. `sequential`: all in turn on one stream. `concurrent`: on the lanes
/// that the operations have, ordered by what they wait for.
enum class Order { compute_only, comm_only, sequential, concurrent };

ELBOWROOM_API std::string_view to_string(Order order);

/// A stream of each device. What is launched on it runs in order.
struct Lane {
  std::string name;
  bool urgent = false;             ///< at the device's greatest priority
  std::optional<Sms> leaving_out;  ///< SMs on which none of its compute kernels runs: it is the stream of an SM partition

  auto operator<=>(const Lane&) const = default;
};

/// One launch of an operation on every rank that has it. Indices of launches refer to earlier ones of the program; on a rank that
/// has only one of the two an edge means nothing.
struct Launch {
  int operation = 0;  ///< of the step
  int repeat = 0;
  int lane = 0;                  ///< of the program
  std::vector<int> after;        ///< starts when those have ended; what stands before it on its lane is not among them
  std::vector<int> after_begun;  ///< starts when all blocks of those have begun (the launch gate)
  LaunchSettings settings;

  auto operator<=>(const Launch&) const = default;
};

/// A schedule, everything decided: launches in the order in which the host enqueues them. The first lane begins at once, the others
/// behind an event of it.
struct Program {
  std::vector<Lane> lanes;
  std::vector<Launch> launches;

  auto operator<=>(const Program&) const = default;
};

}  // namespace elbowroom
