#include "start_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace elbowroom {
namespace {

constexpr int kNotFound = 127;
constexpr int kNotExecutable = 126;

class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) { ends_ = {-1, -1}; }
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
    if (end >= 0) { close(end); }
    end = -1;
  }
  std::array<int, 2> ends_ = {-1, -1};
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  list.reserve(texts.size() + 1);
  for (std::string& text : texts) { list.push_back(text.data()); }
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
    if (!gone) { entries.emplace_back(*entry); }
  }
  for (const auto& [name, value] : changes) { entries.push_back(fmt::format("{}={}", name, value)); }
  return entries;
}

/// The errno of an exec that failed; absent when the command runs, because the pipe is closed by its start.
std::optional<int> exec_failure(Pipe& pipe) {
  pipe.close_write();
  int failure = 0;
  while (::read(pipe.read_end(), &failure, sizeof failure) < 0 && errno == EINTR) {}
  return failure == 0 ? std::nullopt : std::optional(failure);
}

}  // namespace

int exit_code_of_start(int failure) { return failure == ENOENT ? kNotFound : kNotExecutable; }

std::string start_problem(const std::string& command, int failure) {
  return fmt::format("{}: cannot be run: {}", command, std::strerror(failure));
}

Result<StartedProcess> start_process(const std::vector<std::string>& command, const EnvironmentChanges& changes,
                                     const std::vector<std::string>& removed, const SignalQueue& signals,
                                     const std::function<void()>& in_child) {
  std::vector<std::string> arguments = command;
  std::vector<std::string> environment = changed_environment(changes, removed);
  const std::vector<char*> argument_list = pointers(arguments);
  const std::vector<char*> environment_list = pointers(environment);
  Pipe pipe;
  if (!pipe.ok()) { return failed(fmt::format("{}: no pipe to it could be made: {}", command.front(), std::strerror(errno))); }
  const pid_t child = fork();
  if (child < 0) { return failed(fmt::format("{}: no process could be made: {}", command.front(), std::strerror(errno))); }
  if (child == 0) {
    signals.restore();
    in_child();
    execvpe(argument_list.front(), argument_list.data(), environment_list.data());
    const int failure = errno;
    [[maybe_unused]] const ssize_t told = write(pipe.write_end(), &failure, sizeof failure);
    _exit(kNotFound);
  }
  return StartedProcess{child, exec_failure(pipe)};
}

}  // namespace elbowroom
