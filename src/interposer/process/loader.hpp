#pragma once

#include <string_view>

namespace elbowroom::interposer::process {

/// Functions of dlfcn.h as they would be without this library: of the next library that interposes them, or the C library's.
using DlsymFunction = void* (*)(void* handle, const char* name);
using DlopenFunction = void* (*)(const char* file, int flags);
using DlmopenFunction = void* (*)(long space, const char* file, int flags);
DlsymFunction next_dlsym();
DlopenFunction next_dlopen();
DlmopenFunction next_dlmopen();

/// Whether another preloaded library answers dlsym, before this one or behind it.
bool dlsym_is_interposed();

/// The path of the object that holds `address`, and its name without folders; "": the program itself, or none.
const char* object_path(const void* address);
std::string_view object_name(const void* address);

/// The first loaded object whose name begins so, and how many there are. Null: none.
struct LoadedObjects {
  const char* path = nullptr;
  unsigned count = 0;
};
LoadedObjects find_objects(std::string_view prefix);

/// The function of that name in the object, or in what it is linked to. Null: none.
void* find_in(const char* path, const char* name);
/// The object that holds `function` stays loaded until the process ends, as hooks keep its address.
void keep_loaded(const void* function);

/// What a search of the global scope behind this library finds. Null: nothing.
void* find_global(const char* name);

}  // namespace elbowroom::interposer::process
