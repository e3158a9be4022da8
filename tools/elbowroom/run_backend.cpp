#include "run_backend.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "backend/dynamic_library.hpp"

namespace elbowroom {
namespace {

constexpr std::array kHipLibraries{"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"};

bool can_be_loaded(std::span<const char* const> names) {
  return std::ranges::any_of(names, [](const char* name) {
    if (detail::beside_the_call(name)) { return false; }
    void* const handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    return handle != nullptr && dlclose(handle) == 0;
  });
}

/// Distributions have HIP's runtime as a package like any other: it says itself whether a GPU is there.
bool sees_hip_gpu() {
  const std::vector<std::string> names(kHipLibraries.begin(), kHipLibraries.end());
  const Result<detail::DynamicLibrary> library = detail::DynamicLibrary::open(names);
  if (!library) { return false; }
  library->keep_loaded();  // it may have started threads
  int (*device_count)(int*) = nullptr;
  int count = 0;
  return library->bind("hipGetDeviceCount", device_count) && device_count(&count) == 0 && count > 0;
}

}  // namespace

Result<preload::RunBackend> choose_run_backend(std::string_view word) {
  using preload::RunBackend;
  if (word == "cuda") { return RunBackend::cuda; }
  if (word == "hip") { return RunBackend::hip; }
  if (word != "auto") { return invalid_input(fmt::format("--backend: '{}', expected auto, cuda or hip", word)); }
  if (driver_can_be_loaded(RunBackend::cuda)) { return RunBackend::cuda; }
  return sees_hip_gpu() ? RunBackend::hip : RunBackend::cuda;
}

bool driver_can_be_loaded(preload::RunBackend backend) {
  if (backend == preload::RunBackend::cuda) { return can_be_loaded(std::array{"libcuda.so.1"}); }
  return can_be_loaded(kHipLibraries);
}

}  // namespace elbowroom
