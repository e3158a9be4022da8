#pragma once

#include <dlfcn.h>

/// The driver's own function of that name, as a library finds it that stands before the driver.
template <class Function>
Function drivers(const char* name, Function) {
  return reinterpret_cast<Function>(dlsym(dlopen("libcuda.so.1", RTLD_LAZY), name));
}
