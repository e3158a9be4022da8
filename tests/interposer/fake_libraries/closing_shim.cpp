#include <dlfcn.h>

// Stands behind the interposer and lets the program act while a library is unloaded, once its place is free: as another thread
// would.

#pragma GCC visibility push(default)
extern "C" int dlclose(void* handle) noexcept {
  static const auto next = reinterpret_cast<int (*)(void*)>(dlsym(RTLD_NEXT, "dlclose"));
  static const auto then = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "once_unloaded"));
  const int result = next(handle);
  if (then != nullptr) { then(); }
  return result;
}
#pragma GCC visibility pop
