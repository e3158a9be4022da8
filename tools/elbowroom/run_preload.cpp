#include "run_preload.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace elbowroom {

namespace fs = std::filesystem;

Result<std::string> find_library(std::string_view library) {
  std::error_code unknown;
  const fs::path self = fs::read_symlink("/proc/self/exe", unknown).parent_path();
  if (unknown) { return failed("/proc/self/exe: cannot be read, expected /proc to be mounted"); }
  for (const char* folder : {".", "../lib", "../" ELBOWROOM_INSTALL_LIBDIR}) {
    const fs::path candidate = fs::weakly_canonical(self / folder / library, unknown);
    if (unknown || !fs::is_regular_file(candidate, unknown)) { continue; }
    // The loader splits its list at blanks and colons and has no way to quote them.
    if (candidate.string().find_first_of(" \t\n:") == std::string::npos) { return candidate.string(); }
    return failed(fmt::format("{}: cannot be preloaded, expected a path without blanks and colons", candidate.string()));
  }
  return failed(fmt::format("{} was not found in {} or {}", library, self.string(), (self.parent_path() / "lib").string()));
}

}  // namespace elbowroom
