#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "elbowroom/base/result.hpp"
#include "signal_queue.hpp"

namespace elbowroom {

/// Changes to the environment that a command inherits: name and value.
using EnvironmentChanges = std::vector<std::pair<std::string, std::string>>;

struct StartedProcess {
  pid_t pid = 0;
  std::optional<int> failure;  ///< errno of the command that could not be executed; absent: it runs
};

/// What a shell says of a command that could not be executed.
int exit_code_of_start(int failure);
/// "x: cannot be run: No such file or directory"
std::string start_problem(const std::string& command, int failure);

/// Starts a command, looked up in PATH, with the signals of before the queue. Names in `removed` are taken out of its environment.
/// `in_child` runs in the new process first; it may call what a signal handler may. `failed` when no process could be made.
Result<StartedProcess> start_process(const std::vector<std::string>& command, const EnvironmentChanges& changes,
                                     const std::vector<std::string>& removed, const SignalQueue& signals,
                                     const std::function<void()>& in_child);

}  // namespace elbowroom
