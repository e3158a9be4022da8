#include <dlfcn.h>

#include <string>

#include "program.hpp"

// Libraries that are loaded while another one is unloaded, in its place.

namespace {

using Call = int (*)();

void (*meanwhile)() = nullptr;
int reached = 0;
void* place = nullptr;

void* loaded(const char* stem) {
  const std::string path = std::string(std::getenv("ELBOWROOM_COPIES_DIR")) + "/" + stem + ".so";
  void* handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  EXPECT(handle != nullptr);
  return handle;
}

// Both copies of NCCL stay; where the user of the first one was, there is the user of the second.
void loaded_meanwhile() {
  loaded("nccl1");
  loaded("nccl2");
  void* first = loaded("user1");
  place = dlsym(first, "user_all_reduce");
  EXPECT(reinterpret_cast<Call>(place)() == 1);
  meanwhile = [] {
    const auto call = reinterpret_cast<Call>(dlsym(loaded("user2"), "user_all_reduce"));
    if (reinterpret_cast<void*>(call) != place) { std::exit(77); }
    reached = call();
  };
  EXPECT(dlclose(first) == 0 && reached == 2);
}

constexpr Case kCases[] = {{"loaded_meanwhile", loaded_meanwhile}};

}  // namespace

#pragma GCC visibility push(default)
extern "C" void once_unloaded() {
  void (*call)() = meanwhile;
  meanwhile = nullptr;
  if (call != nullptr) { call(); }
}
#pragma GCC visibility pop

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
