#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "elbowroom/base/result.hpp"
#include "start_process.hpp"

namespace elbowroom {

/// How a command ended, as a shell would say it: its exit code, or 128 + signal when it was killed. 127 stands for a command that
/// does not exist, 126 for one that cannot be executed.
struct ChildEnd {
  int exit_code = 0;
  std::optional<std::string> problem = {};  ///< why it was not started; absent when it was
};

/// Runs a command in this process's place: same standard streams, same process group, looked up in PATH. Signals that are sent to
/// this process alone go to the command (SignalQueue says which); returns when it has ended. Should this process be killed, the
/// command gets SIGTERM. Names in `removed` are taken out of its environment. `failed` when no process could be made. For
/// single-threaded callers: `when_started` may start threads, which inherit that these signals are none of theirs.
Result<ChildEnd> run_child(const std::vector<std::string>& command, const EnvironmentChanges& changes,
                           const std::vector<std::string>& removed, const std::function<void()>& when_started);

}  // namespace elbowroom
