#pragma once

#include <signal.h>
#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "elbowroom/base/result.hpp"

namespace elbowroom::detail {

/// While this lives, a write of this thread to a pipe without a reader, or past a limit of the shell, fails. It would end the
/// process otherwise.
class QuietWrites {
 public:
  QuietWrites();
  ~QuietWrites();
  QuietWrites(const QuietWrites&) = delete;
  QuietWrites& operator=(const QuietWrites&) = delete;

 private:
  sigset_t pending_before_ = {};
  sigset_t mask_before_ = {};
};

/// Which file a name means, however it is spelled.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;                  ///< of the file; of its folder while it is not there
  std::optional<std::string> name;  ///< in that folder; absent for a file that is there

  bool operator==(const FileIdentity&) const = default;
};

/// Absent where `path` is neither a regular file nor the name of one that could be made.
std::optional<FileIdentity> identity_of(const std::string& path);

/// The same of an open file.
std::optional<FileIdentity> identity_of(int descriptor);

/// A neighbour of a file that takes its place when it is complete. Its name is this process's alone; it is gone when this is.
class PartialFile {
 public:
  /// `path` is no link. The new file has the mode of the one that it replaces.
  static Result<PartialFile> beside(std::string path);
  PartialFile(PartialFile&& other) noexcept;
  PartialFile& operator=(PartialFile&&) = delete;
  PartialFile(const PartialFile&) = delete;
  ~PartialFile();

  Status write(std::string_view text);
  /// What was written survives a loss of power.
  Status sync();
  Status take_place();
  /// Removes this user's neighbours that writers left behind which were killed: nobody has written to them for an hour.
  void remove_abandoned() const;

 private:
  PartialFile(std::string path, std::string partial, int descriptor);

  std::string path_;
  std::optional<std::string> partial_;  ///< absent: it took its place
  int descriptor_;
};

/// The folders of a path that are missing, for this user alone. One that cannot be made is one that cannot be written to.
void make_private_folders(const std::filesystem::path& path);

/// "x: cannot be written: No space left on device", with what errno says.
std::string cannot(std::string_view what, const std::string& path);

/// Writes all of it, or says why not.
Status write_all(int descriptor, std::string_view text, const std::string& path);

}  // namespace elbowroom::detail
