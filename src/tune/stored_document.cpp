#include "tune/stored_document.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/files.hpp"
#include "model/document_schema.hpp"

namespace elbowroom::detail {
namespace {

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) { static_cast<void>(close(descriptor_)); }
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  [[nodiscard]] bool ok() const { return descriptor_ >= 0; }
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_;
};

/// The file under the new name is on disk, and so is the name.
Status replace_file(const std::string& path, std::string_view text) {
  Result<PartialFile> file = PartialFile::beside(path);
  if (!file) { return file.error(); }
  if (Status written = file->write(text); !written) { return written; }
  if (Status synced = file->sync(); !synced) { return synced; }
  if (Status placed = file->take_place(); !placed) { return placed; }
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const File opened(open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A file system that cannot sync folders has no better to offer.
  if (opened.ok()) { static_cast<void>(fsync(opened.get())); }
  return {};
}

Status lock(const File& file, const std::string& path) {
  while (flock(file.get(), LOCK_EX) != 0) {
    if (errno != EINTR) { return failed(cannot("locked", path)); }
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

}  // namespace

Result<std::optional<std::string>> read_stored(const StoredDocument& document) {
  const std::string& path = document.path;
  const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.ok() && errno == ENOENT) { return std::optional<std::string>(); }
  if (!file.ok()) { return invalid_input(cannot("read", path)); }
  struct stat facts = {};
  if (fstat(file.get(), &facts) != 0) { return invalid_input(cannot("read", path)); }
  if (!S_ISREG(facts.st_mode)) { return invalid_input(fmt::format("{}: not a regular file, expected a {}", path, document.what)); }
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
  const std::filesystem::path folder = std::filesystem::path(document.path).parent_path();
  if (access(folder.empty() ? "." : folder.c_str(), W_OK) != 0) { return invalid_input(cannot("written", document.path)); }
  const Result<std::optional<std::string>> text = read_stored(document);
  if (!text) { return text.error(); }
  return *text ? refuse_other_document(**text, document.schema, document.path) : Status();
}

Status rewrite_stored(const StoredDocument& document, const Rewriting& rewriting, const NoticeSink& notice) {
  const std::string& path = document.path;
  if (Status storable = can_store(document); !storable) { return storable; }
  const std::string lock_path = path + ".lock";
  const File lock_file(open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!lock_file.ok()) { return invalid_input(cannot("written", lock_path)); }
  if (Status locked = lock(lock_file, lock_path); !locked) {
    return locked;  // until lock_file closes
  }

  const Result<std::optional<std::string>> before = read_stored(document);
  Result<std::string> after = before ? rewriting(before->value_or("")) : before.error();
  if (!after) {
    const std::string kept = free_name(path);
    if (std::rename(path.c_str(), kept.c_str()) != 0) { return failed(cannot("renamed", path)); }
    if (notice) {
      notice(fmt::format("{} begun anew, the old file is kept as {}: {}", document.what, kept, after.error().message));
    }
    after = rewriting("");
  }
  return after ? replace_file(path, *after) : Status(after.error());
}

}  // namespace elbowroom::detail
