#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "program.hpp"

// Calls while a library is unloaded. Another one may be loaded in its place.

namespace {

using Call = int (*)();

void (*meanwhile)() = nullptr;
int reached = 0;
void* place = nullptr;
Call by_library = nullptr;

void* loaded(const char* stem) {
  const std::string path = std::string(std::getenv("ELBOWROOM_COPIES_DIR")) + "/" + stem + ".so";
  void* handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  EXPECT(handle != nullptr);
  return handle;
}

Call call_of(void* user) { return reinterpret_cast<Call>(dlsym(user, "user_all_reduce")); }

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

// What is remembered of a library that was unloaded makes room for others: a call is not looked up among all objects, which takes
// tens of microseconds.
void many_reloads() {
  using Clock = std::chrono::steady_clock;
  loaded("nccl1");
  for (int i = 0; i < 400; ++i) {
    void* user = loaded("user1");
    EXPECT(call_of(user)() == 1 && dlclose(user) == 0);
  }
  const Call call = call_of(loaded("user1"));
  auto shortest = Clock::duration::max();
  for (int i = 0; i < 20; ++i) {
    const auto begin = Clock::now();
    for (int j = 0; j < 100; ++j) { EXPECT(call() == 1); }
    shortest = std::min(shortest, Clock::now() - begin);
  }
  EXPECT(shortest < std::chrono::microseconds(200));
}

// The unload waits for a thread that calls what was called before.
void waited_for() {
  loaded("nccl1");
  loaded("nccl2");
  by_library = call_of(loaded("user1"));
  EXPECT(by_library() == 1);
  void* library = dlopen(std::getenv("ELBOWROOM_CALLING_AT_UNLOAD"), RTLD_NOW | RTLD_LOCAL);
  EXPECT(library != nullptr && dlclose(library) == 0 && reached == 1);
}

constexpr Case kCases[] = {{"loaded_meanwhile", loaded_meanwhile}, {"many_reloads", many_reloads}, {"waited_for", waited_for}};

}  // namespace

#pragma GCC visibility push(default)
extern "C" void once_unloaded() {
  void (*call)() = meanwhile;
  meanwhile = nullptr;
  if (call != nullptr) { call(); }
}
extern "C" void call_for_library() { reached = by_library(); }
#pragma GCC visibility pop

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
