#include "run_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/files.hpp"

namespace elbowroom {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "elbowroom-run-";

/// The folder, open and locked; absent when another process holds it or it has gone.
std::optional<int> locked(const fs::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) { return std::nullopt; }
  struct stat facts = {};
  if (flock(descriptor, LOCK_EX | LOCK_NB) == 0 && fstat(descriptor, &facts) == 0 && facts.st_nlink > 0 &&
      facts.st_uid == geteuid()) {
    return descriptor;
  }
  close(descriptor);
  return std::nullopt;
}

void remove_what_nobody_holds(const fs::path& root) {
  std::error_code unknown;
  for (auto entry = fs::directory_iterator(root, unknown); !unknown && entry != fs::directory_iterator();
       entry.increment(unknown)) {
    if (!entry->path().filename().string().starts_with(kPrefix)) { continue; }
    const std::optional<int> lock = locked(entry->path());
    if (!lock) { continue; }
    std::error_code ignored;
    fs::remove_all(entry->path(), ignored);
    close(*lock);
  }
}

/// Absent, with errno, where none can be made. Another run may have taken a new folder for a left one before it was locked: then
/// another.
std::optional<std::pair<fs::path, int>> new_folder(const fs::path& root) {
  constexpr int most_attempts = 10;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    std::string name = (root / fmt::format("{}XXXXXX", kPrefix)).string();
    if (mkdtemp(name.data()) == nullptr) { return std::nullopt; }
    if (const std::optional<int> lock = locked(name)) { return std::pair(fs::path(name), *lock); }
  }
  return std::nullopt;
}

}  // namespace

RunFolder::RunFolder(fs::path path, int lock) : path_(std::move(path)), lock_(lock) {}

RunFolder::RunFolder(RunFolder&& other) noexcept : path_(std::exchange(other.path_, {})), lock_(std::exchange(other.lock_, -1)) {}

RunFolder::~RunFolder() {
  std::error_code ignored;
  if (!path_.empty()) { fs::remove_all(path_, ignored); }
  if (lock_ >= 0) { close(lock_); }
}

Result<RunFolder> RunFolder::make() {
  const char* const wanted = std::getenv("TMPDIR");
  const std::array<fs::path, 3> roots{wanted == nullptr ? "" : wanted, "/tmp", "/var/tmp"};
  std::optional<Error> why;
  for (const fs::path& root : roots) {
    if (root.empty()) { continue; }
    // The command may change to another folder.
    std::error_code unknown;
    if (auto made = new_folder(fs::absolute(root, unknown))) {
      remove_what_nobody_holds(root);
      return RunFolder(std::move(made->first), made->second);
    }
    if (!why) { why = failed(detail::cannot("written", root.string())); }
  }
  return *why;
}

}  // namespace elbowroom
