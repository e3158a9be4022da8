#include "child_process.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "signal_queue.hpp"

namespace elbowroom {
namespace {

/// A key that is pressed sends its signal to the command as well, which shares the terminal and the process group.
bool comes_from_the_terminal(const siginfo_t& info) { return info.si_code == SI_KERNEL; }

/// In the new process. The one that waits for it may be killed, which no handler can pass on. The new one is then asked to end, as
/// if it had been started without.
void end_with(pid_t waiting) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != waiting) { raise(SIGTERM); }
}

int wait_and_forward(pid_t child, const SignalQueue& signals) {
  for (;;) {
    const siginfo_t info = signals.next();
    if (info.si_signo != SIGCHLD) {
      if (!comes_from_the_terminal(info)) { kill(child, info.si_signo); }
      continue;
    }
    int status = 0;
    // One SIGCHLD may stand for several children; only this one matters, and it may have ended before the signal was fetched.
    if (waitpid(child, &status, WNOHANG) != child) { continue; }
    if (WIFSIGNALED(status)) { return 128 + WTERMSIG(status); }
    if (WIFEXITED(status)) { return WEXITSTATUS(status); }
  }
}

}  // namespace

Result<ChildEnd> run_child(const std::vector<std::string>& command, const EnvironmentChanges& changes,
                           const std::vector<std::string>& removed, const std::function<void()>& when_started) {
  const SignalQueue signals;
  const pid_t self = getpid();
  const Result<StartedProcess> child = start_process(command, changes, removed, signals, [self] { end_with(self); });
  if (!child) { return child.error(); }
  if (!child->failure) { when_started(); }
  const int code = wait_and_forward(child->pid, signals);
  if (!child->failure) { return ChildEnd{code}; }
  return ChildEnd{exit_code_of_start(*child->failure), start_problem(command.front(), *child->failure)};
}

}  // namespace elbowroom
