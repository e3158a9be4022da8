#include "run_backend.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "backend/dynamic_library.hpp"

namespace elbowroom {
namespace {

bool can_be_loaded(std::initializer_list<const char*> names) {
  return std::ranges::any_of(names, [](const char* name) {
    if (detail::beside_the_call(name)) { return false; }
    void* const handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    return handle != nullptr && dlclose(handle) == 0;
  });
}

}  // namespace

Result<preload::RunBackend> choose_run_backend(std::string_view word) {
  using preload::RunBackend;
  if (word == "cuda") { return RunBackend::cuda; }
  if (word == "hip") { return RunBackend::hip; }
  if (word != "auto") { return invalid_input(fmt::format("--backend: '{}', expected auto, cuda or hip", word)); }
  if (driver_can_be_loaded(RunBackend::cuda)) { return RunBackend::cuda; }
  return driver_can_be_loaded(RunBackend::hip) ? RunBackend::hip : RunBackend::cuda;
}

bool driver_can_be_loaded(preload::RunBackend backend) {
  if (backend == preload::RunBackend::cuda) { return can_be_loaded({"libcuda.so.1"}); }
  return can_be_loaded({"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"});
}

}  // namespace elbowroom
