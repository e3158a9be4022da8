#include "output_of.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/descriptor.hpp"

namespace elbowroom {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostOutput = 64 << 10;

/// The process, with its standard output at `written`; absent where it could not be started.
std::optional<pid_t> spawn(const std::vector<std::string>& command, int written) {
  std::vector<std::string> texts = command;
  std::vector<char*> arguments;
  arguments.reserve(texts.size() + 1);
  for (std::string& text : texts) { arguments.push_back(text.data()); }
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, written, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t process = 0;
  const int failure = posix_spawnp(&process, arguments.front(), &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  return failure == 0 ? std::optional(process) : std::nullopt;
}

/// All until the end of the pipe; absent where that does not come in time, or too much comes.
std::optional<std::string> read_until(int pipe, Clock::time_point end) {
  std::string text;
  std::array<char, 4096> piece = {};
  while (text.size() <= kMostOutput) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    pollfd wanted = {pipe, POLLIN, 0};
    const int ready = ::poll(&wanted, 1, static_cast<int>(std::max(left.count(), std::chrono::milliseconds::rep{0})));
    if (ready < 0 && errno == EINTR) { continue; }
    if (ready <= 0) { return std::nullopt; }
    const ssize_t got = ::read(pipe, piece.data(), piece.size());
    if (got == 0) { return text; }
    if (got > 0) { text.append(piece.data(), static_cast<std::size_t>(got)); }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> output_of(const std::vector<std::string>& command, std::chrono::milliseconds limit) {
  std::array<int, 2> ends = {};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) { return std::nullopt; }
  const detail::Descriptor reading(ends[0]);
  detail::Descriptor writing(ends[1]);
  const std::optional<pid_t> process = spawn(command, writing.get());
  writing = detail::Descriptor();
  if (!process) { return std::nullopt; }
  std::optional<std::string> text = read_until(reading.get(), Clock::now() + limit);
  if (!text) { ::kill(*process, SIGKILL); }
  int status = 0;
  while (::waitpid(*process, &status, 0) < 0 && errno == EINTR) {}
  return status == 0 ? text : std::nullopt;
}

}  // namespace elbowroom
