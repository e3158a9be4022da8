#include "child_process.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "signal_queue.hpp"
#include "signal_witness.hpp"

namespace elbowroom {
namespace {

/// A key that is pressed sends its signal to the command as well, which shares the terminal and the process group.
bool comes_from_the_terminal(const siginfo_t& info) {
  const bool of_terminals = info.si_signo == SIGINT || info.si_signo == SIGQUIT || info.si_signo == SIGHUP;
  return of_terminals && info.si_code == SI_KERNEL;
}

/// Whoever sent it has sent it to the command as well.
bool has_it(pid_t child, int signal, SignalWitness& witness) { return witness.has(signal) && getpgid(child) == getpgrp(); }

void pass_on(pid_t child, const siginfo_t& info) {
  if (info.si_code == SI_QUEUE) {
    sigqueue(child, info.si_signo, info.si_value);
  } else {
    kill(child, info.si_signo);
  }
}

/// How the child ended; absent: it runs. The first process of a container gets the children of others that have ended: they go here
/// as well.
std::optional<int> reap(pid_t child) {
  std::optional<int> code;
  int status = 0;
  for (pid_t ended = 0; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
    if (ended == child && WIFSIGNALED(status)) { code = 128 + WTERMSIG(status); }
    if (ended == child && WIFEXITED(status)) { code = WEXITSTATUS(status); }
  }
  return code;
}

/// In the new process. The one that waits for it may be killed, which no handler can pass on. The new one is then asked to end, as
/// if it had been started without.
void end_with(pid_t waiting) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != waiting) { raise(SIGTERM); }
}

int wait_and_forward(pid_t child, const SignalQueue& signals) {
  SignalWitness witness(SignalWitness::Place::in_group);
  while (true) {
    const siginfo_t info = signals.next();
    // One SIGCHLD may stand for several children, and the one that matters may have ended before the signal was fetched.
    if (const std::optional<int> code = reap(child)) { return *code; }
    if (info.si_signo == SIGCHLD || comes_from_the_terminal(info)) { continue; }
    if (!has_it(child, info.si_signo, witness)) { pass_on(child, info); }
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
