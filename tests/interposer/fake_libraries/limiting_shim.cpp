#include <dlfcn.h>

#include "interposer/cuda/hooked_functions.hpp"

// What limits a program's use of a shared GPU, preloaded as the interposer is: it answers dlsym for the driver, with functions that
// it exports and with others, and is linked to nothing.

namespace {

using Dlsym = void* (*)(void*, const char*);

#if defined(__x86_64__)
constexpr const char* kDlsymVersion = "GLIBC_2.2.5";
#else
constexpr const char* kDlsymVersion = "GLIBC_2.17";
#endif

// Found anew each time: the guard of a static is the sanitizer's, which may not be ready.
Dlsym c_library_dlsym() { return reinterpret_cast<Dlsym>(dlvsym(RTLD_NEXT, "dlsym", kDlsymVersion)); }

// By hand: a sanitizer's runtime looks for functions here before its own strcmp is ready.
bool same(const char* name, const char* known) {
  while (*name != '\0' && *name == *known) {
    ++name;
    ++known;
  }
  return *name == *known;
}

int limited_free(cu::DevicePointer) { return 2; }

}  // namespace

#pragma GCC visibility push(default)
extern "C" {
void* dlsym(void* handle, const char* name) noexcept {
  if (same(name, "cuMemFree_v2")) { return reinterpret_cast<void*>(&limited_free); }
  return c_library_dlsym()(handle, name);
}
}
#pragma GCC visibility pop
