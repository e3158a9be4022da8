#include "output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <vector>

#include "base/files.hpp"
#include "console.hpp"

namespace elbowroom {

Status check_outputs(std::span<const OutputFile> outputs) {
  for (const auto& [file, schema] : outputs) {
    const auto& [option, name] = file;
    if (!name || name == "-") { continue; }
    const Status good = detail::can_write(std::string(*name), schema);
    if (!good) { return invalid_input(fmt::format("{}: {}", option, good.error().message)); }
  }
  return {};
}

Status check_distinct(std::span<const NamedFile> files) {
  std::vector<std::pair<std::string, detail::FileIdentity>> known;
  for (const auto& [stream, descriptor] : {std::pair("standard output", STDOUT_FILENO), {"standard error", STDERR_FILENO}}) {
    if (const auto identity = detail::identity_of(descriptor)) { known.emplace_back(stream, *identity); }
  }
  for (const auto& [option, name] : files) {
    if (!name || name == "-") { continue; }
    const auto identity = detail::identity_of(std::string(*name));
    if (!identity) { continue; }
    for (const auto& [other, taken] : known) {
      if (taken == *identity) {
        return invalid_input(fmt::format("{}: '{}', expected another file than {}'s", option, *name, other));
      }
    }
    known.emplace_back(option, *identity);
  }
  return {};
}

Result<std::string> read_input(const std::string& path) {
  if (path != "-") { return read_file(path); }
  Result<std::string> text = read_file("/dev/stdin");
  if (!text) { return invalid_input(fmt::format("standard input: {}", text.error().message)); }
  return text;
}

Status write_document(const std::string& path, std::string_view schema, std::string_view text) {
  return path == "-" ? print(text) : detail::write_document(path, schema, text);
}

}  // namespace elbowroom
