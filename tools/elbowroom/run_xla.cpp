#include "run_xla.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "elbowroom/model/comm_environment.hpp"
#include "output_of.hpp"
#include "preload/xla_buffers.hpp"
#include "run_program.hpp"

namespace elbowroom {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSearchPiece = 1 << 20;
constexpr std::chrono::seconds kLongestAnswer{20};
/// The folders in which the program would find JAX's plugins and its own library, a line each.
constexpr const char* kAskForFolders =
    "import importlib.util as u\n"
    "for name in ('jax_plugins', 'jaxlib'):\n"
    "    spec = u.find_spec(name)\n"
    "    print('\\n'.join(spec.submodule_search_locations or ()) if spec else '')\n";

/// The first word of the command that is a Python, or the Python that reads its program; else the one that PATH leads to.
std::string python_of(const std::vector<std::string>& command) {
  const auto is_python = [](const std::string& word) { return fs::path(word).filename().string().starts_with("python"); };
  const auto word = std::ranges::find_if(command, is_python);
  if (word != command.end()) { return *word; }
  const std::string interpreter = interpreter_of_script(command.front());
  return is_python(interpreter) ? interpreter : "python3";
}

struct Libraries {
  std::vector<fs::path> plugins;
  std::vector<fs::path> others;  ///< they read the same flags
};

Libraries libraries_in(const std::string& folders) {
  Libraries found;
  std::istringstream lines(folders);
  for (std::string folder; std::getline(lines, folder);) {
    std::error_code unknown;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, unknown)) {
      const fs::path plugin = entry.path() / "xla_cuda_plugin.so";
      if (fs::is_regular_file(plugin, unknown)) { found.plugins.push_back(plugin); }
      if (entry.path().filename() == "libjax_common.so") { found.others.push_back(entry.path()); }
    }
  }
  return found;
}

/// A library has hundreds of MB: it is never whole in memory.
preload::XlaFlagSearch flags_in(const fs::path& library) {
  std::ifstream stream(library, std::ios::binary);
  std::string piece(kSearchPiece, '\0');
  preload::XlaFlagSearch search;
  while (stream) {
    stream.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    search.add(std::string_view(piece).substr(0, static_cast<std::size_t>(stream.gcount())));
  }
  return search;
}

/// The first flag that all of them know.
std::optional<preload::XlaFlag> common_flag(const Libraries& libraries) {
  std::vector<preload::XlaFlagSearch> searches;
  for (const auto* paths : {&libraries.plugins, &libraries.others}) {
    for (const fs::path& path : *paths) { searches.push_back(flags_in(path)); }
  }
  for (const preload::XlaFlag& flag : preload::xla_buffer_flags()) {
    if (std::ranges::all_of(searches, [&](const preload::XlaFlagSearch& search) { return search.has(flag); })) { return flag; }
  }
  return std::nullopt;
}

}  // namespace

Result<preload::Variables> xla_environment(const std::vector<std::string>& command, const preload::Variables& environment,
                                           preload::Controls& controls) {
  if (!controls.xla_buffers.value_or(false) || preload::names_xla_buffers(environment)) { return preload::Variables(); }
  if (Status possible = preload::check_xla_buffers(environment); !possible) { return possible.error(); }
  const std::string python = python_of(command);
  const Libraries libraries = libraries_in(output_of({python, "-c", kAskForFolders}, kLongestAnswer).value_or(""));
  if (libraries.plugins.empty()) {
    return invalid_input(fmt::format("--set: {}: '{}' has no plugin of JAX for CUDA, expected jax[cuda12] or jax[cuda13]",
                                     preload::kXlaBuffers, python));
  }
  const std::optional<preload::XlaFlag> flag = common_flag(libraries);
  if (!flag) {
    return invalid_input(fmt::format("--set: {}: {} knows no flag for it, expected JAX 0.7.2 or later", preload::kXlaBuffers,
                                     libraries.plugins.front().string()));
  }
  auto blocks = preload::xla_symmetric_blocks(environment);
  if (blocks && !preload::value_of(controls.comm_library, kSymmetricBlocksVariable)) {
    controls.comm_library.emplace_back(kSymmetricBlocksVariable, *std::move(blocks));
  }
  return preload::Variables{{"XLA_FLAGS", preload::xla_flags(*flag, environment)}};
}

}  // namespace elbowroom
