#include "run_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/descriptor.hpp"
#include "base/file_lock.hpp"
#include "base/files.hpp"

namespace elbowroom {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "elbowroom-run-";
/// Where there are no locks nobody can tell whether a folder has a process: it is removed by its own alone.
constexpr std::string_view kUnlockedPrefix = "elbowroom-unlocked-";

struct Locked {
  detail::LockState state = detail::LockState::failed;
  detail::Descriptor folder;
};

/// The folder, open and locked where it is this user's; `held` when another process holds it or it has gone.
Locked locked(const fs::path& folder) {
  detail::Descriptor opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!opened.is_open()) { return {detail::LockState::held, {}}; }
  detail::LockState state = detail::lock_within(opened, std::chrono::milliseconds(0));
  struct stat facts = {};
  const bool ours = fstat(opened.get(), &facts) == 0 && facts.st_nlink > 0 && facts.st_uid == geteuid();
  if (!ours) { state = detail::LockState::held; }
  return {state, std::move(opened)};
}

void remove_what_nobody_holds(const fs::path& root) {
  std::error_code unknown;
  for (auto entry = fs::directory_iterator(root, unknown); !unknown && entry != fs::directory_iterator();
       entry.increment(unknown)) {
    if (!entry->path().filename().string().starts_with(kPrefix)) { continue; }
    const Locked left = locked(entry->path());
    std::error_code ignored;
    if (left.state == detail::LockState::taken) { fs::remove_all(entry->path(), ignored); }
  }
}

std::optional<fs::path> made_below(const fs::path& root, std::string_view prefix) {
  std::string name = (root / fmt::format("{}XXXXXX", prefix)).string();
  return mkdtemp(name.data()) == nullptr ? std::nullopt : std::optional<fs::path>(name);
}

/// Absent, with errno, where none can be made. Another run may have taken a new folder for a left one before it was locked: then
/// another.
std::optional<std::pair<fs::path, detail::Descriptor>> new_folder(const fs::path& root) {
  constexpr int most_attempts = 10;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    std::optional<fs::path> made = made_below(root, kPrefix);
    if (!made) { return std::nullopt; }
    Locked own = locked(*made);
    if (own.state == detail::LockState::taken) { return std::pair(*std::move(made), std::move(own.folder)); }
    if (own.state == detail::LockState::held) { continue; }
    rmdir(made->c_str());
    made = made_below(root, kUnlockedPrefix);
    return made ? std::optional(std::pair(*std::move(made), detail::Descriptor())) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

RunFolder::RunFolder(fs::path path, detail::Descriptor lock) : path_(std::move(path)), lock_(std::move(lock)) {}

RunFolder::RunFolder(RunFolder&& other) noexcept : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}

RunFolder::~RunFolder() {
  std::error_code ignored;
  if (!path_.empty()) { fs::remove_all(path_, ignored); }
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
      return RunFolder(std::move(made->first), std::move(made->second));
    }
    if (!why) { why = failed(detail::cannot("written", root.string())); }
  }
  return *why;
}

}  // namespace elbowroom
