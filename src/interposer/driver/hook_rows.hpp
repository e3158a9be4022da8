#pragma once

#include "interposer/process/hook_table.hpp"

namespace elbowroom::interposer::driver {

template <auto Ours>
void* address_of() {
  return reinterpret_cast<void*>(Ours);
}

/// A row of a table of hooks; the arguments are its fields.
template <auto Ours>
constexpr process::Hook hook(const char* symbol, const char* base, int since, process::DefaultStream stream,
                             process::HookedLibrary library) {
  return {symbol, base, since, stream, library, &address_of<Ours>, &process::hook_state<Ours>};
}

}  // namespace elbowroom::interposer::driver
