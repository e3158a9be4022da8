#include "base/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <system_error>
#include <utility>

#include "base/known_file.hpp"

namespace elbowroom::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPartialBegin = ".elbowroom-";
constexpr std::string_view kPartialEnd = ".partial";

sigset_t write_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  sigaddset(&signals, SIGXFSZ);
  return signals;
}

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

/// Two calls at the same time, in one process or in several, get different names.
std::string partial_name(const fs::path& path, int attempt) {
  const std::string name = fmt::format("{}{}-{}{}", kPartialBegin, getpid(), attempt, kPartialEnd);
  return path.has_parent_path() ? (path.parent_path() / name).string() : name;
}

}  // namespace

QuietWrites::QuietWrites() {
  const sigset_t signals = write_signals();
  sigpending(&pending_before_);
  pthread_sigmask(SIG_BLOCK, &signals, &mask_before_);
}

QuietWrites::~QuietWrites() {
  const int error = errno;
  for (const int signal : {SIGPIPE, SIGXFSZ}) {
    if (sigismember(&pending_before_, signal) == 1) { continue; }
    sigset_t raised;
    sigemptyset(&raised);
    sigaddset(&raised, signal);
    const timespec at_once = {};
    while (sigtimedwait(&raised, nullptr, &at_once) < 0 && errno == EINTR) {}
  }
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  errno = error;
}

std::optional<FileIdentity> identity_of(const std::string& path) {
  struct stat facts = {};
  if (stat(path.c_str(), &facts) == 0) {
    return S_ISREG(facts.st_mode) ? std::optional(FileIdentity{facts.st_dev, facts.st_ino, std::nullopt}) : std::nullopt;
  }
  const fs::path target = target_of(path);
  if (stat(folder_of(target).c_str(), &facts) != 0 || !target.has_filename()) { return std::nullopt; }
  return FileIdentity{facts.st_dev, facts.st_ino, target.filename().string()};
}

std::optional<FileIdentity> identity_of(int descriptor) {
  struct stat facts = {};
  if (fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode)) { return std::nullopt; }
  return FileIdentity{facts.st_dev, facts.st_ino, std::nullopt};
}

void make_private_folders(const fs::path& path) {
  std::error_code unknown;
  if (path.empty() || fs::exists(path, unknown)) { return; }
  make_private_folders(path.parent_path());
  static_cast<void>(mkdir(path.c_str(), 0700));
}

std::string cannot(std::string_view what, const std::string& path) {
  return fmt::format("{}: cannot be {}: {}", path, what, std::strerror(errno));
}

Status write_all(int descriptor, std::string_view text, const std::string& path) {
  const QuietWrites quiet;
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) { continue; }
    if (written < 0) { return failed(cannot("written", path)); }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

PartialFile::PartialFile(std::string path, std::string partial, int descriptor)
    : path_(std::move(path)), partial_(std::move(partial)), descriptor_(descriptor) {}

PartialFile::PartialFile(PartialFile&& other) noexcept
    : path_(std::move(other.path_)),
      partial_(std::exchange(other.partial_, std::nullopt)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

PartialFile::~PartialFile() {
  if (descriptor_ >= 0) { close(descriptor_); }
  if (partial_) { unlink(partial_->c_str()); }
}

Result<PartialFile> PartialFile::beside(std::string path) {
  constexpr mode_t permissions = 0777;
  constexpr mode_t otherwise = 0666;  // less what the umask takes
  constexpr int most_attempts = 10'000;
  struct stat facts = {};
  const bool replaces = stat(path.c_str(), &facts) == 0;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    std::string partial = partial_name(path, attempt);
    const int descriptor = open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, otherwise);
    if (descriptor < 0 && errno == EEXIST) { continue; }
    if (descriptor < 0) { break; }
    PartialFile file(std::move(path), std::move(partial), descriptor);
    // Of a group's document the group stays; a folder may give its files another one.
    [[maybe_unused]] const bool of_group = !replaces || fchown(descriptor, static_cast<uid_t>(-1), facts.st_gid) == 0;
    if (replaces && fchmod(descriptor, facts.st_mode & permissions) != 0) { return failed(cannot("written", file.path_)); }
    return file;
  }
  return failed(cannot("written", path));
}

Status PartialFile::write(std::string_view text) { return write_all(descriptor_, text, path_); }

Status PartialFile::sync() { return fsync(descriptor_) == 0 ? Status() : Status(failed(cannot("written", path_))); }

void PartialFile::remove_abandoned() const {
  constexpr time_t long_ago = 3600;
  struct stat own = {};
  if (!partial_ || fstat(descriptor_, &own) != 0) { return; }
  std::error_code unknown;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_of(*partial_), unknown)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPartialBegin) || !name.ends_with(kPartialEnd)) { continue; }
    struct stat other = {};
    const bool known = lstat(entry.path().c_str(), &other) == 0 && S_ISREG(other.st_mode) && other.st_uid == own.st_uid;
    // Both times are of the file system, whose clock may not be this host's.
    if (known && other.st_mtime + long_ago < own.st_mtime) { unlink(entry.path().c_str()); }
  }
}

Status PartialFile::take_place() {
  // Some file systems say only now that they are full.
  const bool closed = close(std::exchange(descriptor_, -1)) == 0;
  if (!closed || !partial_ || std::rename(partial_->c_str(), path_.c_str()) != 0) { return failed(cannot("written", path_)); }
  partial_.reset();
  return {};
}

}  // namespace elbowroom::detail
