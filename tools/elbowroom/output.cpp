#include "output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

namespace elbowroom {
namespace {

// A scenario is a few hundred bytes; whoever gives a gigabyte meant another file.
constexpr std::streamsize kGreatestInput = std::streamsize{16} << 20;

/// Only a regular file is replaced; a device or a link is written to.
bool is_replaced(const std::string& path) {
  std::error_code unknown;
  const auto kind = std::filesystem::symlink_status(path, unknown).type();
  return kind == std::filesystem::file_type::not_found || kind == std::filesystem::file_type::regular;
}

Error cannot(std::string_view what, const std::string& path) {
  return invalid_input(fmt::format("{}: cannot be {}: {}", path, what, std::strerror(errno)));
}

}  // namespace

Status print(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return written ? Status() : Status(failed(fmt::format("standard output cannot be written: {}", std::strerror(errno))));
}

Status write_file(const std::string& path, std::string_view text) {
  if (path == "-") return print(text);
  const bool replace = is_replaced(path);
  const std::string partial = replace ? path + ".partial" : path;
  {
    std::ofstream file(partial, std::ios::binary | std::ios::trunc);
    if (!file) return cannot("written", path);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    file.close();
    if (!file) return cannot("written", path);
  }
  if (replace && std::rename(partial.c_str(), path.c_str()) != 0) return cannot("written", path);
  return {};
}

Status print_table(std::string_view text) {
  Status printed = print(text);
  return printed || errno == EPIPE ? Status() : printed;
}

Status check_outputs(std::span<const NamedFile> outputs) {
  for (const auto& [option, name] : outputs) {
    if (name.empty() || name == "-") continue;
    const std::string path(name);
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    std::error_code unknown;
    const bool is_folder = std::filesystem::is_directory(path, unknown);
    const bool replaced = is_replaced(path);
    if (!replaced && !std::filesystem::exists(path, unknown)) continue;  // a link to a file that is yet to be made
    // What is replaced needs a folder to write in; what is written to, a device or a link, only itself.
    const std::string needed = !replaced ? path : folder.empty() ? "." : folder.string();
    if (is_folder) errno = EISDIR;
    if (is_folder || access(needed.c_str(), W_OK) != 0) {
      return invalid_input(fmt::format("{}: {}", option, cannot("written", path).message));
    }
  }
  return {};
}

Status check_distinct(std::span<const NamedFile> files) {
  std::vector<std::pair<std::string_view, std::filesystem::path>> known;
  for (const auto& [option, name] : files) {
    std::error_code unknown;
    const std::filesystem::path path = std::filesystem::weakly_canonical(name, unknown);
    const bool a_file = !std::filesystem::exists(path, unknown) || std::filesystem::is_regular_file(path, unknown);
    if (name.empty() || name == "-" || !a_file) continue;
    for (const auto& [other, taken] : known) {
      if (taken == path) return invalid_input(fmt::format("{}: '{}', expected another file than {}'s", option, name, other));
    }
    known.emplace_back(option, path);
  }
  return {};
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return cannot("read", path);
  std::string text;
  text.resize(static_cast<std::size_t>(kGreatestInput) + 1);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || (!file && !file.eof())) return cannot("read", path);
  if (file.gcount() > kGreatestInput)
    return invalid_input(fmt::format("{}: over 16 MiB, expected an elbowroom.scenario/1 document", path));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

ProgressLine::ProgressLine() : terminal_(isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(std::string_view text) {
  if (!terminal_) return;
  fmt::print(stderr, "\r\x1b[K{}", text);
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace elbowroom
