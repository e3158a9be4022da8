#include "backend_cuda/user_modules.hpp"

#include <cuda.h>

#include <memory>
#include <string>

#include "backend_cuda/cuda_calls.hpp"
#include "backend_cuda/driver_entry.hpp"

namespace elbowroom::cuda {
namespace {

struct ModuleCalls {
  decltype(&cuModuleLoadData) load = nullptr;
  decltype(&cuModuleUnload) unload = nullptr;
  decltype(&cuModuleGetFunction) get_function = nullptr;
};

Status find_calls(ModuleCalls& calls) {
  for (const Status& found : {driver_entry("cuModuleLoadData", calls.load), driver_entry("cuModuleUnload", calls.unload),
                              driver_entry("cuModuleGetFunction", calls.get_function)}) {
    if (!found) { return found; }
  }
  return {};
}

// The driver's errors have the numbers and words of the runtime's.
Status checked(CUresult code, const char* call) { return linked_runtime().check(static_cast<int>(code), call); }

}  // namespace

Result<gpu::ModuleFiles> user_modules() {
  ModuleCalls calls;
  if (Status found = find_calls(calls); !found) { return found.error(); }
  const auto load = [calls](const std::string& image) -> Result<gpu::ModuleFiles::Module> {
    CUmodule module = nullptr;
    if (Status loaded = checked(calls.load(&module, image.c_str()), "cuModuleLoadData"); !loaded) { return loaded.error(); }
    return gpu::ModuleFiles::Module(module, [calls](void* kept) { static_cast<void>(calls.unload(static_cast<CUmodule>(kept))); });
  };
  const auto find = [calls](void* module, const std::string& name) -> Result<gpu::Function> {
    CUfunction function = nullptr;
    if (Status found = checked(calls.get_function(&function, static_cast<CUmodule>(module), name.c_str()), "cuModuleGetFunction");
        !found) {
      return found.error();
    }
    return reinterpret_cast<gpu::Function>(function);
  };
  return gpu::ModuleFiles(load, find);
}

}  // namespace elbowroom::cuda
