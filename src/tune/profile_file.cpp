#include "elbowroom/tune/profile_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/files.hpp"
#include "model/document_schema.hpp"

namespace elbowroom {
namespace {

using detail::cannot;
using detail::PartialFile;
using detail::refuse_other_document;
using detail::target_of;

constexpr std::size_t kGreatestProfile = std::size_t{64} << 20;

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) static_cast<void>(close(descriptor_));
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  [[nodiscard]] bool ok() const { return descriptor_ >= 0; }
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_;
};

/// Absent when there is no such file.
Result<std::optional<std::string>> read_whole(const std::string& path) {
  const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.ok() && errno == ENOENT) return std::optional<std::string>();
  if (!file.ok()) return invalid_input(cannot("read", path));
  struct stat facts = {};
  if (fstat(file.get(), &facts) != 0) return invalid_input(cannot("read", path));
  if (!S_ISREG(facts.st_mode)) return invalid_input(fmt::format("{}: not a regular file, expected a profile", path));
  std::string text;
  std::array<char, 65'536> buffer;
  while (true) {
    const ssize_t got = read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return invalid_input(cannot("read", path));
    if (got == 0) return std::optional(std::move(text));
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > kGreatestProfile) return invalid_input(fmt::format("{}: over 64 MiB, expected a profile", path));
  }
}

/// The file under the new name is on disk, and so is the name.
Status replace_file(const std::string& path, std::string_view text) {
  Result<PartialFile> file = PartialFile::beside(path);
  if (!file) return file.error();
  if (Status written = file->write(text); !written) return written;
  if (Status synced = file->sync(); !synced) return synced;
  if (Status placed = file->take_place(); !placed) return placed;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const File opened(open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A file system that cannot sync folders has no better to offer.
  if (opened.ok()) static_cast<void>(fsync(opened.get()));
  return {};
}

Status lock(const File& file, const std::string& path) {
  while (flock(file.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return failed(cannot("locked", path));
  }
  return {};
}

/// `path`.damaged, or the first of `path`.damaged.2 and so on that is not there: an older one is somebody's as well.
std::string free_name(const std::string& path) {
  std::string name = path + ".damaged";
  std::error_code unknown;
  for (int number = 2; std::filesystem::exists(std::filesystem::symlink_status(name, unknown)); ++number) {
    name = fmt::format("{}.damaged.{}", path, number);
  }
  return name;
}

void say(const NoticeSink& notice, const std::string& line) {
  if (notice) notice(Severity::warning, line);
}

}  // namespace

Result<Profile> load_profile(const std::string& path) {
  const Result<std::optional<std::string>> text = read_whole(path);
  if (!text) return text.error();
  return *text ? parse_profile(**text, path) : Result<Profile>(Profile());
}

Profile load_profile_or_none(const std::string& path, const NoticeSink& notice) {
  Result<Profile> profile = load_profile(path);
  if (profile) return std::move(*profile);
  say(notice, fmt::format("profile ignored: {}", profile.error().message));
  return {};
}

Status can_store_in(const std::string& named) {
  const std::string path = target_of(named);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (access(folder.empty() ? "." : folder.c_str(), W_OK) != 0) return invalid_input(cannot("written", path));
  const Result<std::optional<std::string>> text = read_whole(path);
  if (!text) return text.error();
  return *text ? refuse_other_document(**text, kProfileSchema, path) : Status();
}

Status add_to_profile(const std::string& named, const Profile& more, const NoticeSink& notice) {
  const std::string path = target_of(named);
  if (Status storable = can_store_in(path); !storable) return storable;
  const std::string lock_path = path + ".lock";
  const File lock_file(open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!lock_file.ok()) return invalid_input(cannot("written", lock_path));
  if (Status locked = lock(lock_file, lock_path); !locked) return locked;  // until lock_file closes

  std::error_code unknown;
  const bool begun = std::filesystem::exists(path, unknown) && std::filesystem::file_size(path, unknown) > 0;
  Result<Profile> profile = begun ? load_profile(path) : Profile();
  if (!profile) {
    const std::string kept = free_name(path);
    if (std::rename(path.c_str(), kept.c_str()) != 0) return failed(cannot("renamed", path));
    say(notice, fmt::format("profile begun anew, the old file is kept as {}: {}", kept, profile.error().message));
    profile = Profile();
  }
  for (const StoredChoice& choice : more.choices()) profile->put(choice);
  for (const StoredDuration& duration : more.durations()) profile->put(duration);
  profile->drop_old_durations();
  return replace_file(path, to_json(*profile));
}

}  // namespace elbowroom
