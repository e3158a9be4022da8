#include "tune/stored_document.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/descriptor.hpp"
#include "base/file_lock.hpp"
#include "base/files.hpp"
#include "base/known_file.hpp"
#include "model/document_schema.hpp"

namespace elbowroom::detail {
namespace {

// A writer holds the lock for milliseconds. Who keeps it longer is not writing; many who write take their turns.
constexpr std::chrono::seconds kLongestWait(5);
constexpr std::chrono::seconds kLongestQueue(60);
constexpr int kMostTries = 10;

std::string folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

/// A neighbour of the file with all of the text, on disk.
Result<PartialFile> complete_beside(const std::string& path, std::string_view text) {
  Result<PartialFile> file = PartialFile::beside(path);
  if (!file) { return file.error(); }
  file->remove_abandoned();
  if (Status written = file->write(text); !written) { return written.error(); }
  if (Status synced = file->sync(); !synced) { return synced.error(); }
  return file;
}

/// The file under the new name is on disk, and so is the name.
Status take_place(PartialFile file, const std::string& path) {
  if (Status placed = file.take_place(); !placed) { return placed; }
  const Descriptor opened(open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A file system that cannot sync folders has no better to offer.
  if (opened.is_open()) { static_cast<void>(fsync(opened.get())); }
  return {};
}

/// Gives the file a second name, `path`.damaged or the first of `path`.damaged.2 and so on that is free: an older one is somebody's
/// as well. The file has its own name until another takes its place.
Result<std::string> keep_damaged(const std::string& path) {
  std::string name = path + ".damaged";
  for (int number = 2; link(path.c_str(), name.c_str()) != 0; ++number) {
    if (errno != EEXIST) {
      // A file system without hard links.
      if (rename(path.c_str(), name.c_str()) != 0) { return failed(cannot("renamed", path)); }
      return name;
    }
    name = fmt::format("{}.damaged.{}", path, number);
  }
  return name;
}

/// Whoever may replace the document may lock it: its user, and the folder's group where that may write there.
mode_t lock_mode(const struct stat& folder) {
  const bool of_group = (folder.st_mode & S_IWGRP) != 0 && (folder.st_mode & S_IWOTH) == 0;
  return of_group ? 0660 : 0600;
}

/// A new lock, or one of this user that an older version made for all to open.
void limit_access(const Descriptor& lock, const std::string& folder) {
  struct stat facts = {};
  struct stat around = {};
  if (fstat(lock.get(), &facts) != 0 || facts.st_uid != geteuid() || stat(folder.c_str(), &around) != 0) { return; }
  const mode_t mode = lock_mode(around);
  const bool of_group =
      mode != 0600 && (facts.st_gid == around.st_gid || fchown(lock.get(), static_cast<uid_t>(-1), around.st_gid) == 0);
  const mode_t possible = of_group ? mode : 0600;
  // A file system without modes has no better to offer.
  if ((facts.st_mode & 07777U) != possible) { static_cast<void>(fchmod(lock.get(), possible)); }
}

std::string lock_of(const std::string& path) { return path + ".lock"; }

Result<Descriptor> open_lock(const std::string& path, const std::string& folder) {
  const auto no_lock = [&] { return invalid_input(fmt::format("{}: not a regular file, expected a lock", path)); };
  std::error_code unknown;
  // A lock at another place would be another document's.
  if (std::filesystem::is_symlink(path, unknown)) { return no_lock(); }
  for (int attempt = 0; attempt < kMostTries; ++attempt) {
    Descriptor lock = open_known(path, O_RDWR);
    // O_CREAT alone is refused for a file of another member of the group in a sticky folder.
    if (!lock.is_open() && errno == ENOENT) { lock = open_known(path, O_RDWR | O_CREAT | O_EXCL); }
    if (!lock.is_open() && errno == EEXIST) { continue; }
    if (!lock.is_open()) { break; }
    limit_access(lock, folder);
    return lock;
  }
  return errno == EINVAL ? no_lock() : invalid_input(cannot("written", path));
}

/// Changes with every writer.
std::pair<ino_t, std::int64_t> version_of(const std::string& path) {
  struct stat facts = {};
  if (stat(path.c_str(), &facts) != 0) { return {}; }
  return {facts.st_ino, static_cast<std::int64_t>(facts.st_mtim.tv_sec) * 1'000'000'000 + facts.st_mtim.tv_nsec};
}

/// Other writers are waited for as long as they write.
LockState wait_for(const Descriptor& lock, const std::string& path) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds between_looks(200);
  const Clock::time_point until = Clock::now() + kLongestQueue;
  auto version = version_of(path);
  Clock::time_point written = Clock::now();
  while (true) {
    const LockState state = lock_within(lock, between_looks);
    const Clock::time_point now = Clock::now();
    if (state != LockState::held || now >= until || now - written >= kLongestWait) { return state; }
    if (const auto seen = version_of(path); seen != version) {
      version = seen;
      written = now;
    }
  }
}

Status take(const Descriptor& lock, const std::string& path, const NoticeSink& notice) {
  const std::string lock_path = lock_of(path);
  switch (wait_for(lock, path)) {
    case LockState::taken:
      return {};
    case LockState::held:
      return failed(fmt::format("{}: held by another process that writes nothing for {} s", lock_path, kLongestWait.count()));
    case LockState::absent:
      if (notice) {
        notice(fmt::format(
            "{}: its file system has no locks, stored without one: two writers at once can lose what one of them adds", lock_path));
      }
      return {};
    case LockState::failed:
      break;
  }
  return failed(cannot("locked", lock_path));
}

}  // namespace

Result<std::optional<std::string>> read_stored(const StoredDocument& document) {
  const std::string& path = document.path;
  const Descriptor file = open_known(path, O_RDONLY);
  if (!file.is_open() && errno == ENOENT) { return std::optional<std::string>(); }
  if (!file.is_open() && errno == EINVAL) {
    return invalid_input(fmt::format("{}: not a regular file, expected a {}", path, document.what));
  }
  if (!file.is_open()) { return invalid_input(cannot("read", path)); }
  std::string text;
  std::array<char, 65'536> buffer;
  while (true) {
    const ssize_t got = read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) { continue; }
    if (got < 0) { return invalid_input(cannot("read", path)); }
    if (got == 0) { return std::optional(std::move(text)); }
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > kGreatestStored) {
      return invalid_input(fmt::format("{}: over {} MiB, expected a {}", path, kGreatestStored >> 20, document.what));
    }
  }
}

Status can_store(const StoredDocument& document) {
  if (!leads_where_it_should(document.path)) {
    return invalid_input(fmt::format("{}: a link of another user, expected a {}", document.path, document.what));
  }
  const std::string folder = folder_of(document.path);
  if (access(folder.c_str(), W_OK) != 0) { return invalid_input(cannot("written", document.path)); }
  const std::string lock = lock_of(document.path);
  if (struct stat facts = {}; lstat(lock.c_str(), &facts) == 0) {
    if (const Result<Descriptor> opened = open_lock(lock, folder); !opened) { return opened.error(); }
  }
  const Result<std::optional<std::string>> text = read_stored(document);
  if (!text) { return text.error(); }
  return *text ? refuse_other_document(**text, document.schema, document.path) : Status();
}

Status rewrite_stored(const StoredDocument& document, const Rewriting& rewriting, const NoticeSink& notice) {
  const std::string& path = document.path;
  if (Status storable = can_store(document); !storable) { return storable; }
  const Result<Descriptor> lock = open_lock(lock_of(path), folder_of(path));  // until it closes
  if (!lock) { return lock.error(); }
  if (Status taken = take(*lock, path, notice); !taken) { return taken; }

  const Result<std::optional<std::string>> before = read_stored(document);
  if (!before) {
    return before.error();  // of a passing reason, as the file was read a moment ago
  }
  Result<std::string> after = rewriting(before->value_or(""));
  const std::optional<std::string> damage = after ? std::nullopt : std::optional(after.error().message);
  if (damage) { after = rewriting(""); }
  if (!after) { return after.error(); }
  Result<PartialFile> file = complete_beside(path, *after);
  if (!file) { return file.error(); }
  const Result<std::string> kept = damage ? keep_damaged(path) : Result<std::string>("");
  if (!kept) { return kept.error(); }
  if (damage && notice) { notice(fmt::format("{} begun anew, the old file is kept as {}: {}", document.what, *kept, *damage)); }
  return take_place(*std::move(file), path);
}

}  // namespace elbowroom::detail
