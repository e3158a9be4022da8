#include "output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace headroom {
namespace {

// A scenario is a few hundred bytes; whoever gives a gigabyte meant another file.
constexpr std::streamsize kGreatestInput = std::streamsize{16} << 20;

Error cannot(std::string_view what, const std::string& path) {
  return invalid_input(fmt::format("{}: cannot be {}: {}", path, what, std::strerror(errno)));
}

}  // namespace

Status print(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return written ? Status() : Status(failed("standard output cannot be written"));
}

Status write_file(const std::string& path, std::string_view text) {
  if (path == "-") return print(text);
  // Only a regular file is replaced; a device or a link is written to.
  std::error_code unknown;
  const auto kind = std::filesystem::symlink_status(path, unknown).type();
  const bool replace = kind == std::filesystem::file_type::not_found || kind == std::filesystem::file_type::regular;
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

Status check_folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code unknown;
  if (path.empty() || path == "-" || folder.empty() || std::filesystem::is_directory(folder, unknown)) return {};
  errno = ENOENT;
  return cannot("written", path);
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return cannot("read", path);
  std::string text;
  text.resize(static_cast<std::size_t>(kGreatestInput) + 1);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || (!file && !file.eof())) return cannot("read", path);
  if (file.gcount() > kGreatestInput)
    return invalid_input(fmt::format("{}: over 16 MiB, expected a headroom.scenario/1 document", path));
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

}  // namespace headroom
