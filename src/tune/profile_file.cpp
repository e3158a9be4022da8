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

namespace elbowroom {
namespace {

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
  bool close_now() { return close(std::exchange(descriptor_, -1)) == 0; }

 private:
  int descriptor_;
};

Error cannot(std::string_view what, const std::string& path, int error) {
  return invalid_input(fmt::format("{}: cannot be {}: {}", path, what, std::strerror(error)));
}

/// Absent when there is no such file.
Result<std::optional<std::string>> read_whole(const std::string& path) {
  const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.ok() && errno == ENOENT) return std::optional<std::string>();
  if (!file.ok()) return cannot("read", path, errno);
  struct stat facts = {};
  if (fstat(file.get(), &facts) != 0) return cannot("read", path, errno);
  if (!S_ISREG(facts.st_mode)) return invalid_input(fmt::format("{}: not a regular file, expected a profile", path));
  std::string text;
  std::array<char, 65'536> buffer;
  while (true) {
    const ssize_t got = read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot("read", path, errno);
    if (got == 0) return std::optional(std::move(text));
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > kGreatestProfile) return invalid_input(fmt::format("{}: over 64 MiB, expected a profile", path));
  }
}

Status write_whole(int descriptor, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return cannot("written", path, errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

/// Who may read a profile is its owner's to say.
mode_t mode_of(const std::string& path) {
  struct stat facts = {};
  constexpr mode_t permissions = 0777;
  constexpr mode_t otherwise = 0644;
  return stat(path.c_str(), &facts) == 0 ? facts.st_mode & permissions : otherwise;
}

/// The file under the new name is on disk, and so is the name.
Status replace_file(const std::string& path, std::string_view text) {
  std::string partial = path + ".XXXXXX";
  File file(mkostemp(partial.data(), O_CLOEXEC));
  if (!file.ok()) return cannot("written", path, errno);
  Status written = write_whole(file.get(), text, path);
  if (written && (fchmod(file.get(), mode_of(path)) != 0 || fsync(file.get()) != 0)) written = cannot("written", path, errno);
  if (written && !file.close_now()) written = cannot("written", path, errno);
  if (written && std::rename(partial.c_str(), path.c_str()) != 0) written = cannot("written", path, errno);
  if (!written) {
    static_cast<void>(unlink(partial.c_str()));
    return written;
  }
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const File opened(open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A file system that cannot sync folders has no better to offer.
  if (opened.ok()) static_cast<void>(fsync(opened.get()));
  return {};
}

Status lock(const File& file, const std::string& path) {
  while (flock(file.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return cannot("locked", path, errno);
  }
  return {};
}

/// A link is followed, even one to a file that is not there yet, so that the file that it names is replaced and not the link.
std::string target_of(const std::string& path) {
  constexpr int most_links = 16;
  std::filesystem::path target = path;
  std::error_code failure;
  for (int links = 0; links < most_links && std::filesystem::is_symlink(target, failure); ++links) {
    target = target.parent_path() / std::filesystem::read_symlink(target, failure);
    if (failure) return path;
  }
  return target.string();
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
  if (access(folder.empty() ? "." : folder.c_str(), W_OK) != 0) return cannot("written", path, errno);
  const Result<std::optional<std::string>> text = read_whole(path);
  std::error_code unknown;
  const bool other_kind = std::filesystem::exists(path, unknown) && !std::filesystem::is_regular_file(path, unknown);
  if (!text) return other_kind ? Status(text.error()) : Status();
  return *text ? refuse_other_document(**text, path) : Status();
}

Status add_to_profile(const std::string& named, const Profile& more, const NoticeSink& notice) {
  const std::string path = target_of(named);
  if (Status storable = can_store_in(path); !storable) return storable;
  const std::string lock_path = path + ".lock";
  const File lock_file(open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!lock_file.ok()) return cannot("written", lock_path, errno);
  if (Status locked = lock(lock_file, lock_path); !locked) return locked;  // until lock_file closes

  Result<Profile> profile = load_profile(path);
  if (!profile) {
    const std::string kept = free_name(path);
    if (std::rename(path.c_str(), kept.c_str()) != 0) return cannot("renamed", path, errno);
    say(notice, fmt::format("profile begun anew, the old file is kept as {}: {}", kept, profile.error().message));
    profile = Profile();
  }
  for (const StoredChoice& choice : more.choices()) profile->put(choice);
  for (const StoredDuration& duration : more.durations()) profile->put(duration);
  profile->drop_old_durations();
  return replace_file(path, to_json(*profile));
}

}  // namespace elbowroom
