#include "command_recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "byte_sources.hpp"
#include "explain/tar.hpp"
#include "preload/recorder.hpp"
#include "run/recording.hpp"
#include "run_backend.hpp"
#include "run_preload.hpp"
#include "run_request.hpp"

namespace elbowroom {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kArchiveFolder = "elbowroom-recording/";

std::vector<fs::path> files_named(const fs::path& folder, std::string_view extension) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == extension) { files.push_back(at->path()); }
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// The file behind its header, filled up to whole blocks.
bool add_file(std::ofstream& archive, const fs::path& file) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  std::ifstream content(file, std::ios::binary);
  if (error || !content) { return false; }
  archive << explain::tar_header(std::string(kArchiveFolder) + file.filename().string(), size);
  if (size > 0) { archive << content.rdbuf(); }
  archive << std::string((explain::kTarBlock - size % explain::kTarBlock) % explain::kTarBlock, '\0');
  return content.good() && archive.good();
}

}  // namespace

Result<CommandRecording> CommandRecording::prepare(double after_seconds) {
  Result<std::string> library = find_library(run::kRecordLibrary);
  if (!library) { return unavailable(fmt::format("nothing can be recorded: {}", library.error().message)); }
  Result<RunFolder> folder = RunFolder::make();
  if (!folder) { return folder.error(); }
  CommandRecording recording(*std::move(folder));
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  const Result<preload::Variables> changes =
      preload::recorder_environment({.library = *std::move(library),
                                     .folder = recording.folder().string(),
                                     .begin = std::chrono::duration_cast<std::chrono::nanoseconds>(since).count(),
                                     .after = std::llround(after_seconds * 1e9)},
                                    own_environment());
  if (!changes) { return changes.error(); }
  recording.changes_ = *changes;
  return recording;
}

std::vector<std::string> CommandRecording::notes() const {
  std::set<std::string> lines;
  for (const fs::path& file : files_named(folder(), run::kNoteSuffix)) {
    std::ifstream text(file);
    std::string line;
    if (std::getline(text, line)) { lines.insert(line); }
  }
  return {lines.begin(), lines.end()};
}

std::vector<fs::path> CommandRecording::traces() const { return files_named(folder(), ".json"); }

Status CommandRecording::keep(const std::string& file) const {
  const std::string part = file + ".part";
  std::ofstream archive(part, std::ios::binary | std::ios::trunc);
  bool whole = archive.good();
  for (const fs::path& trace : traces()) { whole = whole && add_file(archive, trace); }
  archive << std::string(2 * explain::kTarBlock, '\0');
  archive.close();
  std::error_code error;
  if (whole && archive) { fs::rename(part, file, error); }
  if (whole && archive && !error) { return {}; }
  fs::remove(part, error);
  return failed(fmt::format("--record: {}: the recording could not be written", file));
}

std::string nothing_recorded(double ran_seconds, double after_seconds) {
  const std::string begin = fmt::format(
      "nothing was recorded: {}", driver_can_be_loaded(preload::RunBackend::cuda) ? "" : "no CUDA driver here (libcuda.so.1); ");
  if (ran_seconds >= after_seconds) { return begin + "the command used no GPU"; }
  const std::string ended =
      fmt::format("{}the command ended after {:.1f} s, before the recording at {:g} s", begin, ran_seconds, after_seconds);
  if (ran_seconds < 1) { return ended + "; expected a command that repeats steps for some seconds"; }
  const double half = ran_seconds / 2;
  return fmt::format("{}; --after {:g}", ended, half < 1 ? std::floor(half * 10) / 10 : std::floor(half));
}

Status check_recording_file(const std::string& file) {
  std::error_code error;
  const fs::path folder = fs::absolute(file, error).parent_path();
  if (!fs::is_directory(folder, error)) {
    return invalid_input(fmt::format("--record: {}: cannot be written: No such file or directory", file));
  }
  if (!fs::exists(fs::symlink_status(file, error))) { return {}; }
  const auto bytes = open_bytes(file);
  const Result<std::string> first =
      bytes ? explain::TextSource::first_of(**bytes, explain::kTarBlock) : Result<std::string>(bytes.error());
  const bool ours = first && explain::is_tar(*first) && first->starts_with(kArchiveFolder);
  return ours ? Status()
              : Status(invalid_input(fmt::format("--record: '{}' exists and is no recording, expected a name that is free", file)));
}

}  // namespace elbowroom
