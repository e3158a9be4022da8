#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "doctor_facts.hpp"
#include "elbowroom/base/environment.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom {
namespace {

using std::chrono::steady_clock;

// PyTorch from a cold disk takes tens of seconds to import.
constexpr std::chrono::seconds kTimeToAnswer{90};
// The package's folder takes the place of the current one, which Python would look in first.
constexpr const char* kAsk = "import sys; sys.path[:1] = [sys.argv[1]]; from elbowroom.facts import main; main()";

/// All that the other end writes until it closes or time is up; absent: time is up.
std::optional<std::string> all_of(int descriptor) {
  std::string text;
  std::array<char, 4096> chunk{};
  const auto end = steady_clock::now() + kTimeToAnswer;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - steady_clock::now()).count();
    if (left <= 0) { return std::nullopt; }
    pollfd waited{descriptor, POLLIN, 0};
    if (poll(&waited, 1, static_cast<int>(left)) <= 0) { continue; }
    const ssize_t got = ::read(descriptor, chunk.data(), chunk.size());
    if (got <= 0) { return text; }
    text.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

/// What the command prints on standard output; its standard error goes nowhere.
Result<std::string> output_of(std::vector<std::string> command) {
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) { return failed(fmt::format("no pipe: {}", std::strerror(errno))); }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (std::string& word : command) { arguments.push_back(word.data()); }
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int problem = posix_spawn(&child, arguments.front(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  if (problem != 0) {
    close(pipe_ends[0]);
    return failed(std::strerror(problem));
  }
  const std::optional<std::string> text = all_of(pipe_ends[0]);
  close(pipe_ends[0]);
  if (!text) { kill(child, SIGKILL); }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  if (!text) { return failed(fmt::format("no answer within {} s", kTimeToAnswer.count())); }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) { return failed("it ended with an error, expected Python 3.10 or later"); }
  return *text;
}

std::optional<std::string> text_in(const nlohmann::json& document, const char* name) {
  const auto found = document.find(name);
  if (found == document.end() || !found->is_string()) { return std::nullopt; }
  return found->get<std::string>();
}

}  // namespace

std::optional<std::string> chosen_python() { return read(kPython) ? read(kPython) : program_on_path("python3"); }

doctor::Python doctor_python(const std::string& package) {
  doctor::Python python;
  const std::optional<std::string> program = chosen_python();
  if (!program) {
    python.problem = "not found on PATH";
    return python;
  }
  python.program = *program;
  const Result<std::string> said = output_of({*program, "-B", "-c", kAsk, package});
  if (!said) {
    python.problem = said.error().message;
    return python;
  }
  const nlohmann::json document = nlohmann::json::parse(*said, nullptr, false);
  if (!document.is_object()) {
    python.problem = "its answer is no JSON: something else prints when it starts";
    return python;
  }
  python.version = text_in(document, "python").value_or("");
  python.torch = text_in(document, "torch");
  python.cuda = text_in(document, "cuda");
  python.jax = text_in(document, "jax");
  python.nccl = text_in(document, "nccl");
  for (const nlohmann::json& reason : document.value("refused", nlohmann::json::array())) {
    if (reason.is_string()) { python.refused.push_back(reason.get<std::string>()); }
  }
  return python;
}

}  // namespace elbowroom
