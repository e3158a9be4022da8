#pragma once

#include <filesystem>
#include <string>

#include "base/descriptor.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom {

/// A folder of this process alone for what `run` and the interposer tell each other, removed with what is in it. Folders that
/// killed processes of this user left are removed when one is made: a lock tells which have nobody any more. On a file system
/// without locks the folder has another name, and is left by a killed process.
class RunFolder {
 public:
  /// Below TMPDIR, /tmp or /var/tmp, the first of these that can be used.
  static Result<RunFolder> make();
  RunFolder(RunFolder&& other) noexcept;
  RunFolder& operator=(RunFolder&&) = delete;
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  ~RunFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  RunFolder(std::filesystem::path path, detail::Descriptor lock);

  std::filesystem::path path_;
  detail::Descriptor lock_;  ///< the folder, open and locked; a command that is started does not inherit it
};

}  // namespace elbowroom
