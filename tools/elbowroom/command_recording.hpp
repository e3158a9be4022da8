#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "elbowroom/base/result.hpp"
#include "run_folder.hpp"
#include "start_process.hpp"

namespace elbowroom {

/// How long a program may have run when its recording begins, where nothing else is asked for.
inline constexpr double kRecordAfterSeconds = 60;

/// Recordings of a command's processes: a folder for what the recorder writes, and the environment by which CUDA loads it.
class CommandRecording {
 public:
  /// `unavailable` where this build has no recorder, or where CUDA is to load another library.
  static Result<CommandRecording> prepare(double after_seconds);

  [[nodiscard]] const EnvironmentChanges& changes() const { return changes_; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }
  /// Why processes recorded nothing, each reason once.
  [[nodiscard]] std::vector<std::string> notes() const;
  [[nodiscard]] std::vector<std::filesystem::path> traces() const;
  /// Writes the traces into one archive.
  [[nodiscard]] Status keep(const std::string& file) const;

 private:
  explicit CommandRecording(RunFolder folder) : folder_(std::move(folder)) {}

  RunFolder folder_;
  EnvironmentChanges changes_;
};

/// Why there is neither a trace nor a note behind a command that ran so long: it ended too early, or used no GPU.
std::string nothing_recorded(double ran_seconds, double after_seconds);

/// Whether a recording may be written there: the name is free, or an earlier recording has it.
Status check_recording_file(const std::string& file);

}  // namespace elbowroom
