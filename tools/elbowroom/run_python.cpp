#include "run_python.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "output.hpp"

namespace elbowroom {
namespace {

namespace fs = std::filesystem;

/// A wheel keeps its program in native/bin of the package.
constexpr std::string_view kOfWheel = "../../hook";
// From where the program lies: in a build tree or an installation, beside copied binaries, in a wheel.
constexpr std::array<std::string_view, 3> kHookFolders = {"../share/elbowroom/python/elbowroom/hook",
                                                          "share/elbowroom/python/elbowroom/hook", kOfWheel};
constexpr std::string_view kSchema = "elbowroom.symmetric/1";

constexpr std::string_view kDocumentSuffix = ".symmetric";

/// Absent where there is none, or no JSON.
std::optional<std::string> document_in(const fs::path& file) {
  std::error_code unknown;
  if (!fs::is_regular_file(file, unknown)) { return std::nullopt; }
  Result<std::string> text = read_file(file.string());
  return text && nlohmann::json::accept(*text) ? std::optional(*std::move(text)) : std::nullopt;
}

/// python, python3, python3.11
bool is_python(const std::string& program) { return fs::path(program).filename().string().starts_with("python"); }

/// Every Python of a command runs what lies there: it is of who installed this program, of its user or of root, and nobody else may
/// write to it.
bool is_trusted(const fs::path& path, uid_t installer) {
  struct stat facts = {};
  if (stat(path.c_str(), &facts) != 0 || (facts.st_mode & S_IWOTH) != 0) { return false; }
  return facts.st_uid == installer || facts.st_uid == geteuid() || facts.st_uid == 0;
}

}  // namespace

std::optional<std::string> find_python_hook() {
  std::error_code unknown;
  const fs::path program = fs::read_symlink("/proc/self/exe", unknown);
  const fs::path self = program.parent_path();
  struct stat own = {};
  if (stat("/proc/self/exe", &own) != 0) { return std::nullopt; }
  for (const std::string_view from_here : kHookFolders) {
    if (from_here == kOfWheel && self.parent_path().filename() != "native") { continue; }
    const fs::path folder = fs::weakly_canonical(self / from_here, unknown);
    // Python splits its list at colons and has no way to quote them.
    const bool trusted = is_trusted(folder, own.st_uid) && is_trusted(folder / "sitecustomize.py", own.st_uid);
    if (!unknown && trusted && fs::is_regular_file(folder / "sitecustomize.py", unknown) &&
        folder.string().find(':') == std::string::npos) {
      return folder.string();
    }
  }
  return std::nullopt;
}

std::optional<std::string> symmetric_memory_of(const fs::path& folder, const ProcessReport& process) {
  if (auto document = document_in(folder / fmt::format("{}{}", process.pid, kDocumentSuffix))) { return document; }
  std::error_code unknown;
  if (!is_python(process.program) || fs::exists(folder / fmt::format("{}.hooked", process.pid), unknown)) { return std::nullopt; }
  const nlohmann::ordered_json without = {
      {"schema", kSchema},
      {"pid", process.pid},
      {"refused", nlohmann::json::array({"python ran without the hook: started with -S, -I or -E, or with another PYTHONPATH"})}};
  return without.dump();
}

bool imported_jax(const fs::path& folder, std::int64_t pid) {
  std::error_code unknown;
  return fs::exists(folder / fmt::format("{}.jax", pid), unknown);
}

std::vector<std::string> documents_without_report(std::span<const fs::path> files, std::span<const ProcessReport> processes) {
  std::vector<std::string> documents;
  for (const fs::path& file : files) {
    const auto wrote = [&](const ProcessReport& process) { return file.stem() == std::to_string(process.pid); };
    if (file.extension() != kDocumentSuffix || std::ranges::any_of(processes, wrote)) { continue; }
    if (auto document = document_in(file)) { documents.push_back(*std::move(document)); }
  }
  return documents;
}

}  // namespace elbowroom
