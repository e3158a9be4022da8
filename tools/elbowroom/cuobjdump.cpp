#include "cuobjdump.hpp"

#include <fmt/format.h>
#include <glob.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/descriptor.hpp"
#include "doctor_facts.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): some systems' unistd.h has none

namespace elbowroom {
namespace {

/// What a command prints to standard output; `status` is as waitpid() has it.
Result<std::string> printed_by(std::vector<std::string> command, int& status) {
  const detail::Descriptor memory(memfd_create("cuobjdump", MFD_CLOEXEC));
  if (!memory.is_open()) { return failed(fmt::format("memfd_create: {}", std::strerror(errno))); }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", 0, 0);
  posix_spawn_file_actions_adddup2(&actions, memory.get(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (std::string& argument : command) { arguments.push_back(argument.data()); }
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int problem = posix_spawnp(&child, arguments.front(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) { return unavailable(fmt::format("{}: {}", command.front(), std::strerror(problem))); }
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  std::string text;
  std::array<char, 65'536> piece{};
  lseek(memory.get(), 0, SEEK_SET);
  for (ssize_t got = 0; (got = ::read(memory.get(), piece.data(), piece.size())) > 0;) {
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return text;
}

std::string in_toolkit(const char* folder) { return folder == nullptr ? std::string() : std::string(folder) + "/bin/cuobjdump"; }

std::optional<std::string> first_program(const std::vector<std::string>& candidates) {
  const auto found = std::ranges::find_if(candidates, [](const auto& file) { return access(file.c_str(), X_OK) == 0; });
  return found == candidates.end() ? std::nullopt : std::optional(*found);
}

/// NVIDIA's package on PyPI puts it beside its libraries, where no PATH leads.
std::vector<std::string> in_python() {
  const std::optional<std::string> python = chosen_python();
  if (!python) { return {}; }
  const std::string folder = std::filesystem::path(*python).parent_path().parent_path().string();
  glob_t matches{};
  const auto release = [](glob_t* held) { globfree(held); };
  const std::unique_ptr<glob_t, decltype(release)> released(&matches);
  if (glob((folder + "/lib/python3*/*-packages/nvidia/*/bin/cuobjdump").c_str(), 0, nullptr, &matches) != 0) { return {}; }
  return {matches.gl_pathv, matches.gl_pathv + matches.gl_pathc};
}

}  // namespace

std::optional<std::string> find_cuobjdump() {
  if (std::optional<std::string> on_path = program_on_path("cuobjdump")) { return on_path; }
  if (std::optional<std::string> found = first_program({in_toolkit(std::getenv("CUDA_HOME")), in_toolkit("/usr/local/cuda")})) {
    return found;
  }
  return first_program(in_python());
}

Result<std::string> resource_usage_of(const std::string& file) {
  const std::optional<std::string> found = find_cuobjdump();
  if (!found) {
    return unavailable(
        "no cuobjdump in PATH, CUDA_HOME, /usr/local/cuda or python3's packages; it comes with the CUDA toolkit and as "
        "nvidia-cuda-cuobjdump on PyPI; a log of nvcc -Xptxas -v needs none");
  }
  int status = 0;
  Result<std::string> text = printed_by({*found, "-res-usage", file}, status);
  if (!text) { return text; }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) { return failed(fmt::format("{} -res-usage cannot read it", *found)); }
  return text;
}

}  // namespace elbowroom
