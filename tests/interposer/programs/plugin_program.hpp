#pragma once

#include <dlfcn.h>

#include "program.hpp"

/// A plugin that brings NCCL and cuBLAS with it, as a framework's extension does.
inline void* plugin() {
  static void* handle = dlopen(std::getenv("ELBOWROOM_PLUGIN"), RTLD_NOW | RTLD_LOCAL);
  EXPECT(handle != nullptr);
  return handle;
}

template <class Function>
Function from_plugin(const char* name) {
  return reinterpret_cast<Function>(dlsym(plugin(), name));
}
