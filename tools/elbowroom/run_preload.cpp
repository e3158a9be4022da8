#include "run_preload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "preload/backend.hpp"

namespace elbowroom {

namespace fs = std::filesystem;

Result<std::string> find_library(std::string_view library) {
  std::error_code unknown;
  const fs::path self = fs::read_symlink("/proc/self/exe", unknown).parent_path();
  for (const char* folder : {".", "../lib", "../" ELBOWROOM_INSTALL_LIBDIR}) {
    const fs::path candidate = fs::weakly_canonical(self / folder / library, unknown);
    if (unknown || !fs::is_regular_file(candidate, unknown)) continue;
    // The loader splits its list at blanks and colons and has no way to quote them.
    if (candidate.string().find_first_of(" \t\n:") == std::string::npos) return candidate.string();
    return failed(fmt::format("{}: cannot be preloaded, expected a path without blanks and colons", candidate.string()));
  }
  return failed(fmt::format("{} was not found in {} or {}", library, self.string(), (self.parent_path() / "lib").string()));
}

// Its runtime ends a program in which another library stands before it.
static bool is_address_sanitizer(std::string_view file) {
  return file.starts_with("libasan.so") || file.starts_with("libclang_rt.asan");
}

std::string preload_list(const std::string& library) {
  const char* const before = std::getenv("LD_PRELOAD");
  std::string list = library;
  std::string_view rest = before == nullptr ? "" : before;
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find_first_of(": "));
    const std::string file = fs::path(entry).filename().string();
    const bool of_another_run = file == preload::preloaded_library(preload::RunBackend::cuda) ||
                                file == preload::preloaded_library(preload::RunBackend::hip);
    if (is_address_sanitizer(file)) {
      list = fmt::format("{}:{}", entry, list);
    } else if (!entry.empty() && entry != library && !of_another_run) {
      list += fmt::format(":{}", entry);
    }
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
  }
  return list;
}

}  // namespace elbowroom
