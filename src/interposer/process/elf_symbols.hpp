#pragma once

#include <string_view>

namespace elbowroom::interposer::process {

/// The address of the dynamic symbol `name` in the first loaded object whose file name begins with `object_prefix` (any object
/// for ""), this library left out; null when there is none. Reads the loader's own tables, so that it needs no dlsym; versions
/// are ignored and the first definition is taken. Cost: some microseconds for each loaded object.
void* find_loaded_symbol(std::string_view object_prefix, const char* name);

/// The file name, without its folder, of the loaded object that holds `address`; "" for the program itself or none.
/// The text belongs to the loader.
std::string_view object_of(const void* address);

}  // namespace elbowroom::interposer::process
