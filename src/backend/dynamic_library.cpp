#include "backend/dynamic_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

namespace headroom::detail {

Result<DynamicLibrary> DynamicLibrary::open(std::span<const std::string> names) {
  std::string tried;
  std::string reason;
  for (const std::string& name : names) {
    if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      return DynamicLibrary(std::shared_ptr<void>(handle, [](void* open) { dlclose(open); }), name);
    }
    const char* said = dlerror();
    reason = said == nullptr ? "no reason given" : said;
    tried += (tried.empty() ? "" : ", ") + name;
  }
  return unavailable(fmt::format("cannot load {} ({})", tried, reason));
}

Result<void*> DynamicLibrary::find(const char* symbol) const {
  if (void* address = dlsym(handle_.get(), symbol)) return address;
  return unavailable(fmt::format("{} has no function {}", name_, symbol));
}

}  // namespace headroom::detail
