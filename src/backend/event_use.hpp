#pragma once

#include <optional>
#include <vector>

namespace elbowroom {

struct Program;

}  // namespace elbowroom

namespace elbowroom::detail {

/// Which launches record which event for others to wait for. An event is recorded anew once everything that waits for it is
/// enqueued: few do for programs of any length.
struct EventUse {
  std::vector<std::optional<int>> ended;  ///< by launch; absent: nobody on another lane waits for its end
  std::vector<std::optional<int>> begun;  ///< by launch; absent: no gate stands behind it
  int events = 0;
};

EventUse event_use(const Program& program);

/// The first launch of each kind, in the program's order, without what the others would wait for.
Program kinds_of(const Program& program);

}  // namespace elbowroom::detail
