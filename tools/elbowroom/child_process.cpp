#include "child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

namespace elbowroom {
namespace {

constexpr int kNotFound = 127;
constexpr int kNotExecutable = 126;
constexpr std::array kForwarded = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

/// While this lives, the forwarded signals and SIGCHLD wait to be fetched and the children of this process can be waited for.
class SignalQueue {
 public:
  SignalQueue() {
    sigemptyset(&queued_);
    for (const int signal : kForwarded) sigaddset(&queued_, signal);
    sigaddset(&queued_, SIGCHLD);
    sigprocmask(SIG_BLOCK, &queued_, &mask_before_);
    // Whoever started this process may have set SIGCHLD to be ignored, and then ended children leave no exit code.
    struct sigaction standard = {};
    standard.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &standard, &child_action_before_);
  }
  ~SignalQueue() { restore(); }
  SignalQueue(const SignalQueue&) = delete;
  SignalQueue& operator=(const SignalQueue&) = delete;

  /// As it was before; a command inherits both.
  void restore() const {
    sigaction(SIGCHLD, &child_action_before_, nullptr);
    sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
  }

  /// The next signal and who sent it.
  [[nodiscard]] siginfo_t next() const {
    siginfo_t info = {};
    while (sigwaitinfo(&queued_, &info) < 0 && errno == EINTR) {}
    return info;
  }

 private:
  sigset_t queued_ = {};
  sigset_t mask_before_ = {};
  struct sigaction child_action_before_ = {};
};

class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) ends_ = {-1, -1};
  }
  ~Pipe() {
    close_read();
    close_write();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  [[nodiscard]] bool ok() const { return ends_[0] >= 0; }
  [[nodiscard]] int read_end() const { return ends_[0]; }
  [[nodiscard]] int write_end() const { return ends_[1]; }
  void close_read() { close_end(ends_[0]); }
  void close_write() { close_end(ends_[1]); }

 private:
  static void close_end(int& end) {
    if (end >= 0) close(end);
    end = -1;
  }
  std::array<int, 2> ends_ = {-1, -1};
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  list.reserve(texts.size() + 1);
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

bool names(std::string_view entry, std::string_view name) {
  return entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=';
}

std::vector<std::string> changed_environment(const EnvironmentChanges& changes, const std::vector<std::string>& removed) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const auto same = [&](const auto& name) { return names(*entry, name); };
    const bool gone =
        std::ranges::any_of(removed, same) || std::ranges::any_of(changes, same, &EnvironmentChanges::value_type::first);
    if (!gone) entries.emplace_back(*entry);
  }
  for (const auto& [name, value] : changes) entries.push_back(fmt::format("{}={}", name, value));
  return entries;
}

/// The errno of an exec that failed; 0 when the command runs, because the pipe is closed by its start.
int exec_failure(Pipe& pipe) {
  pipe.close_write();
  int failure = 0;
  while (read(pipe.read_end(), &failure, sizeof failure) < 0 && errno == EINTR) {}
  return failure;
}

/// A key that is pressed sends its signal to the command as well, which shares the terminal and the process group.
bool comes_from_the_terminal(const siginfo_t& info) { return info.si_code == SI_KERNEL; }

/// In the new process: when the one that waits for it is killed, which no handler can pass on, it is asked to end, as it would be
/// if it had been started without.
void end_with(pid_t waiting) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != waiting) raise(SIGTERM);
}

int wait_and_forward(pid_t child, const SignalQueue& signals) {
  for (;;) {
    const siginfo_t info = signals.next();
    if (info.si_signo != SIGCHLD) {
      if (!comes_from_the_terminal(info)) kill(child, info.si_signo);
      continue;
    }
    int status = 0;
    // One SIGCHLD may stand for several children; only this one matters, and it may have ended before the signal was fetched.
    if (waitpid(child, &status, WNOHANG) != child) continue;
    if (WIFSIGNALED(status)) return 128 + WTERMSIG(status);
    if (WIFEXITED(status)) return WEXITSTATUS(status);
  }
}

}  // namespace

Result<ChildEnd> run_child(const std::vector<std::string>& command, const EnvironmentChanges& changes,
                           const std::vector<std::string>& removed) {
  std::vector<std::string> arguments = command;
  std::vector<std::string> environment = changed_environment(changes, removed);
  const std::vector<char*> argument_list = pointers(arguments);
  const std::vector<char*> environment_list = pointers(environment);
  Pipe pipe;
  if (!pipe.ok()) return failed(fmt::format("{}: no pipe to it could be made: {}", command.front(), std::strerror(errno)));

  const SignalQueue signals;
  const pid_t self = getpid();
  const pid_t child = fork();
  if (child < 0) return failed(fmt::format("{}: no process could be made: {}", command.front(), std::strerror(errno)));
  if (child == 0) {
    signals.restore();
    end_with(self);
    execvpe(argument_list.front(), argument_list.data(), environment_list.data());
    const int failure = errno;
    [[maybe_unused]] const ssize_t told = write(pipe.write_end(), &failure, sizeof failure);
    _exit(kNotFound);
  }
  const int failure = exec_failure(pipe);
  const int code = wait_and_forward(child, signals);
  if (failure == 0) return ChildEnd{code, {}};
  return ChildEnd{failure == ENOENT ? kNotFound : kNotExecutable,
                  fmt::format("{}: cannot be run: {}", command.front(), std::strerror(failure))};
}

}  // namespace elbowroom
