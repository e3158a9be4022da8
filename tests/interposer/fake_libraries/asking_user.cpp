#include <dlfcn.h>

#include "interposer/nccl/functions.hpp"

// What has a copy of NCCL of its own, and asks the whole program for the one that it calls.

#pragma GCC visibility push(default)
extern "C" int user_group() {
  const auto start = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "ncclGroupStart"));
  const auto end = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "ncclGroupEnd"));
  if (start == nullptr || end == nullptr) { return -1; }
  volatile int begun = start();
  volatile int ended = end();
  return 100 * begun + ended;
}
#pragma GCC visibility pop
