#pragma once

#include <dlfcn.h>

namespace elbowroom::recorder {

/// Whether the library has the symbol; `function` is null otherwise.
template <class Function>
bool bind(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  return function != nullptr;
}

}  // namespace elbowroom::recorder
