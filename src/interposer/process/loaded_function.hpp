#pragma once

#include "interposer/process/elf_symbols.hpp"
#include "interposer/process/hook_table.hpp"

namespace elbowroom::interposer::process {

/// A function of that library that is not hooked, or null. The library may have been loaded with local visibility, or be part of another
/// one: then whatever object has the name. Costs a walk over the loaded objects: ask once.
template <class Function>
Function loaded_function(HookedLibrary library, const char* name) {
  void* found = find_loaded_symbol(object_prefix(library), name);
  return reinterpret_cast<Function>(found != nullptr ? found : find_loaded_symbol("", name));
}

}  // namespace elbowroom::interposer::process
