#include "program_loader.hpp"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <sstream>
#include <string_view>

#include "base/descriptor.hpp"
#include "base/known_file.hpp"
#include "run_program.hpp"

namespace elbowroom {
namespace {

using detail::Descriptor;

template <class Value>
bool read_at(const Descriptor& file, off_t offset, Value& value) {
  return pread(file.get(), &value, sizeof value, offset) == static_cast<ssize_t>(sizeof value);
}

/// The path of the program's loader, cut where it is long; empty where it has none.
std::string loader_of(const Descriptor& file) {
  constexpr int most_headers = 64;
  Elf64_Ehdr header = {};
  if (!read_at(file, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) {
    return {};
  }
  for (int at = 0; at < header.e_phnum && at < most_headers; ++at) {
    Elf64_Phdr part = {};
    if (!read_at(file, static_cast<off_t>(header.e_phoff) + at * static_cast<off_t>(sizeof part), part)) { return {}; }
    if (part.p_type != PT_INTERP) { continue; }
    std::array<char, 256> path = {};
    return pread(file.get(), path.data(), path.size() - 1, static_cast<off_t>(part.p_offset)) > 0 ? path.data() : "";
  }
  return {};
}

/// What runs a script: the first word behind #!.
std::string runner_of(const Descriptor& file) {
  std::array<char, 256> begin = {};
  if (pread(file.get(), begin.data(), begin.size() - 1, 0) < 2 || begin[0] != '#' || begin[1] != '!') { return {}; }
  std::istringstream words(begin.data() + 2);
  std::string runner;
  words >> runner;
  return runner;
}

}  // namespace

std::optional<std::string> foreign_loader(const std::string& command) {
  constexpr int most_scripts = 4;
  std::string path = found_in_path(command);
  for (int depth = 0; depth < most_scripts; ++depth) {
    const Descriptor file = detail::open_known(path, O_RDONLY);
    if (!file.is_open()) { return std::nullopt; }
    if (std::string runner = runner_of(file); !runner.empty()) {
      path = std::move(runner);
      continue;
    }
    const std::string loader = loader_of(file);
    const std::string_view name = std::string_view(loader).substr(loader.rfind('/') + 1);
    const bool foreign = name.starts_with("ld-musl") || name.starts_with("ld-uClibc");
    return foreign ? std::optional(std::string(name)) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace elbowroom
