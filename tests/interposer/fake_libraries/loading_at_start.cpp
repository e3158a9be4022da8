#include <dlfcn.h>

#include <cstdlib>
#include <string>

// What loads a plugin while the process starts, as MPI and UCX do. It was there before, and the plugin was not.

namespace {

[[gnu::constructor]] void load_plugin() {
  const char* folder = std::getenv("ELBOWROOM_COPIES_DIR");
  dlopen((std::string(folder) + "/user1.so").c_str(), RTLD_LAZY | RTLD_LOCAL);
}

}  // namespace
