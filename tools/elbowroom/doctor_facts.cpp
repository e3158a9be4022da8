#include "doctor_facts.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <strings.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "backend/dynamic_library.hpp"
#include "base/descriptor.hpp"
#include "base/file_lock.hpp"
#include "cuobjdump.hpp"
#include "elbowroom/backend/registry.hpp"
#include "elbowroom/base/environment.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/comm_environment.hpp"
#include "packed_file.hpp"
#include "page_assets.hpp"
#include "preload/choices.hpp"
#include "run_preload.hpp"
#include "run_python.hpp"
#include "run_request.hpp"

namespace elbowroom {
namespace {

namespace fs = std::filesystem;

/// Where the loader found what it loaded.
std::string path_of(const void* function, const std::string& name) {
  Dl_info info{};
  return dladdr(function, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : name;
}

/// `ask` is a function of the library that stores its version and returns 0.
doctor::Library library_with_version(const std::vector<std::string>& names, const char* ask) {
  doctor::Library found;
  const Result<detail::DynamicLibrary> library = detail::DynamicLibrary::open(names);
  if (!library) {
    found.problem = library.error().message;
    return found;
  }
  library->keep_loaded();
  int (*version)(int*) = nullptr;
  if (const Status bound = library->bind(ask, version); !bound) {
    found.path = library->name();
    found.problem = bound.error().message;
    return found;
  }
  found.path = path_of(reinterpret_cast<const void*>(version), library->name());
  if (version(&found.version) != 0) { found.version = 0; }
  return found;
}

std::vector<std::string> names_of(const EnvironmentVariable& variable, std::vector<std::string> otherwise) {
  if (const auto chosen = read(variable)) { return {*chosen}; }
  return otherwise;
}

/// CUPTI is looked for and not called: it would hold GPUs.
doctor::Library cupti() {
  doctor::Library found;
  const std::vector<std::string> names =
      names_of(kCuptiLibrary, {"libcupti.so.13", "libcupti.so.12", "libcupti.so", "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
                               "/usr/local/cuda/lib64/libcupti.so"});
  if (const Result<detail::DynamicLibrary> library = detail::DynamicLibrary::open(names)) {
    library->keep_loaded();  // a leak checker takes for lost what its C++ runtime set aside
    found.path = library->name();
  } else {
    found.problem = library.error().message;
  }
  return found;
}

std::string contents(const char* file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<std::pair<std::string, std::string>> comm_settings() {
  std::vector<std::pair<std::string, std::string>> settings = own_environment();
  std::erase_if(settings, [](const auto& variable) {
    return std::ranges::find(comm_variables(), variable.first, &CommVariable::name) == comm_variables().end();
  });
  std::ranges::sort(settings);
  return settings;
}

bool mps_runs() {
  const char* const folder = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
  std::error_code unknown;
  return fs::exists(fs::path(folder == nullptr ? "/tmp/nvidia-mps" : folder) / "control", unknown);
}

/// What PyTorch takes for yes.
bool says_yes(const char* variable) {
  const char* const value = std::getenv(variable);
  constexpr std::array kYes{"1", "y", "yes", "t", "true"};
  return value != nullptr && std::ranges::any_of(kYes, [&](const char* yes) { return strcasecmp(value, yes) == 0; });
}

std::string timing_variable() {
  for (const char* const variable : {"TORCH_NCCL_ENABLE_TIMING", "TORCH_NCCL_DESYNC_DEBUG"}) {
    if (says_yes(variable)) { return variable; }
  }
  return "";
}

std::optional<std::uint64_t> shared_memory() {
  struct statvfs facts = {};
  if (access("/dev/shm", W_OK) != 0 || statvfs("/dev/shm", &facts) != 0) { return std::nullopt; }
  return std::uint64_t{facts.f_bavail} * facts.f_frsize;
}

/// Tries what `run` does when it keeps a choice: a folder, a file and a lock. Nothing of it is left.
std::optional<std::string> cache_problem(std::string& where) {
  const std::optional<std::string> file = preload::choices_file(own_environment());
  if (!file) { return "neither XDG_CACHE_HOME nor HOME is an absolute path"; }
  where = fs::path(*file).parent_path().string();
  fs::path folder = where;
  std::error_code unknown;
  while (!fs::exists(folder, unknown) && folder.has_relative_path()) { folder = folder.parent_path(); }
  std::string probe = (folder / ".elbowroom-doctor-XXXXXX").string();
  const detail::Descriptor opened(mkostemp(probe.data(), O_CLOEXEC));
  if (!opened.is_open()) { return fmt::format("{}: {}", folder.string(), std::strerror(errno)); }
  const bool locked = detail::lock_within(opened, std::chrono::milliseconds(0)) == detail::LockState::taken;
  const std::string reason = std::strerror(errno);
  unlink(probe.c_str());
  if (!locked) { return fmt::format("{}: no lock can be held there: {}", folder.string(), reason); }
  return std::nullopt;
}

std::vector<std::string> launchers() {
  std::vector<std::string> found;
  for (const char* const program : {"torchrun", "mpirun", "srun"}) {
    if (program_on_path(program)) { found.emplace_back(program); }
  }
  return found;
}

void look_at_ourselves(doctor::Facts& facts) {
  facts.version = ELBOWROOM_VERSION;
  facts.cuda_backend = ELBOWROOM_BUILD_HAS_CUDA_BACKEND != 0;
  facts.report_page = static_cast<bool>(page::embedded_assets());
  facts.unpacks_gzip = unpacks_gzip();
  if (const Result<std::string> library = find_library("libelbowroom_interposer.so")) {
    facts.interposer = *library;
  } else {
    facts.interposer_problem = library.error().message;
  }
  for (const BackendEntry& entry : backends()) {
    if (const auto backend = entry.open({}); !backend) {
      facts.unusable.push_back({std::string(entry.name), backend.error().message});
    }
  }
}

}  // namespace

std::optional<std::string> program_on_path(std::string_view program) {
  const char* const path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    std::string candidate = fmt::format("{}/{}", folder, program);
    if (folder.starts_with('/') && access(candidate.c_str(), X_OK) == 0) { return candidate; }
  }
  return std::nullopt;
}

doctor::Facts doctor_facts() {
  doctor::Facts facts;
  look_at_ourselves(facts);
  if (const char* const path = std::getenv("LD_LIBRARY_PATH")) { facts.library_path = path; }
  facts.settings = comm_settings();
  std::error_code unknown;
  facts.nvidia_devices = fs::exists("/dev/nvidiactl", unknown);
  facts.driver = library_with_version({"libcuda.so.1"}, "cuDriverGetVersion");
  facts.gpus = doctor_gpus(facts.driver_release);
  facts.profiling_needs_root = contents("/proc/driver/nvidia/params").find("RmProfilingAdminOnly: 1") != std::string::npos;
  facts.is_root = geteuid() == 0;
  facts.mps = mps_runs();
  const char* const connections = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
  facts.one_connection = connections != nullptr && std::string_view(connections) == "1";
  facts.timed_by = timing_variable();
  facts.shared_memory = shared_memory();
  facts.cache_problem = cache_problem(facts.cache);
  facts.launchers = launchers();
  if (const std::optional<std::string> hook = find_python_hook()) {
    facts.python_hook = true;
    facts.python = doctor_python(fs::path(*hook).parent_path().parent_path().string());
  }
  facts.nccl = library_with_version(names_of(kNcclLibrary, {facts.python.nccl.value_or("libnccl.so.2")}), "ncclGetVersion");
  facts.cuobjdump = find_cuobjdump();
  facts.cupti = cupti();
  return facts;
}

}  // namespace elbowroom
