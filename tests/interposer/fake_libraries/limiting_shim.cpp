#include <dlfcn.h>

#include "interposer/cuda/hooked_functions.hpp"

// What limits a program's use of a shared GPU, preloaded as the interposer is: it answers dlsym for the driver, with functions that
// it exports and with others, and is linked to nothing.

namespace {

int launches = 0;

using Dlsym = void* (*)(void*, const char*);

#if defined(__x86_64__)
constexpr const char* kDlsymVersion = "GLIBC_2.2.5";
#else
constexpr const char* kDlsymVersion = "GLIBC_2.17";
#endif

// Found anew each time: the guard of a static is the sanitizer's, which may not be ready.
Dlsym c_library_dlsym() { return reinterpret_cast<Dlsym>(dlvsym(RTLD_NEXT, "dlsym", kDlsymVersion)); }

template <class Function>
Function next(const char* name, Function) {
  return reinterpret_cast<Function>(c_library_dlsym()(dlopen("libcuda.so.1", RTLD_LAZY), name));
}

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

int cuLaunchKernel(cu::Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, cu::Stream stream, void** parameters, void** extra) {
  ++launches;
  return next("cuLaunchKernel", &cuLaunchKernel)(function, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);
}
int cuLaunchKernelEx(const cu::LaunchConfig* config, cu::Function function, void** parameters, void** extra) {
  ++launches;
  return next("cuLaunchKernelEx", &cuLaunchKernelEx)(config, function, parameters, extra);
}

#pragma GCC visibility push(default)
extern "C" {
int shim_launches() { return launches; }
void* dlsym(void* handle, const char* name) noexcept {
  if (same(name, "cuMemFree_v2")) { return reinterpret_cast<void*>(&limited_free); }
  if (same(name, "cuLaunchKernel")) { return reinterpret_cast<void*>(&cuLaunchKernel); }
  return c_library_dlsym()(handle, name);
}
}
#pragma GCC visibility pop
