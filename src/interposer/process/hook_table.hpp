#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "interposer/core/unusual.hpp"

namespace elbowroom::interposer::process {

/// kDriver: what launches kernels, CUDA's driver or the HIP runtime. kNccl: NCCL or RCCL.
enum class HookedLibrary : std::uint8_t { kDriver, kNccl, kCublas };
/// What stream 0 means to a function; kNone: it takes no stream that work is put on.
enum class DefaultStream : std::uint8_t { kNone, kLegacy, kPerThread };

/// How a program came by a hooked function; bits of HookState::routes.
enum Route : std::uint8_t { kRouteLinked = 1, kRouteDlsym = 2, kRouteProcAddress = 4 };

/// What changes about a hooked function while the process runs.
struct HookState {
  std::atomic<void*> real{nullptr};
  std::atomic<void*> found{nullptr};  ///< the same before the program asked for it
  std::atomic<std::uint8_t> routes{0};
};

template <auto Ours>
inline constinit HookState hook_state;

/// One hooked function.
struct Hook {
  const char* symbol;  // the name under which the library exports it and this one too
  const char* base;    // the name by which cuGetProcAddress or hipGetProcAddress knows it; "" where it does not
  int since;           // the first version, as in CUDA_VERSION or HIP_VERSION, for which these mean this function
  DefaultStream stream;
  HookedLibrary library;
  void* (*ours)();
  HookState* state;
};

/// All that one preloaded library hooks.
struct HookTable {
  std::span<const Hook> hooks;
  std::array<std::string_view, 3> object_prefixes;  ///< how the file of each HookedLibrary begins; "": it has none
  bool (*may_be_hooked)(const char* name);          ///< whether a name begins like some hooked one; every dlsym of the process asks
};

/// The table of this library. Each preloaded library defines it, in the one source that makes it that library: x/preload.cpp.
const HookTable& hook_table();

inline std::span<const Hook> hooks() { return hook_table().hooks; }
inline std::string_view object_prefix(HookedLibrary library) {
  return hook_table().object_prefixes[static_cast<std::size_t>(library)];
}
inline bool may_be_hooked(const char* name) { return hook_table().may_be_hooked(name); }

/// The hook of that exported name, or null.
const Hook* find_hook(std::string_view symbol);

/// The hook that has that state, or null.
const Hook* find_hook(const HookState& state);

/// The function behind a hook, and the same for a program that has asked for it: the first definition in the global scope behind
/// this library, or that of the first loaded object of its library. It stays loaded. Null: the library is not there.
void* find(const Hook& hook);
void* resolve(const Hook& hook);
/// Finds all of the driver's functions at once, and whether there is one driver and nobody else who defines one. Later none of the
/// loader's locks is taken for them.
void resolve_driver();
void* resolve_state(HookState& state);

/// The function behind hook `Ours`; null when its library is not loaded.
template <auto Ours>
decltype(Ours) real() {
  void* found = hook_state<Ours>.real.load(std::memory_order_acquire);
  if (found == nullptr) [[unlikely]] { found = resolve_state(hook_state<Ours>); }
  return reinterpret_cast<decltype(Ours)>(found);
}

/// "Not initialized", in CUDA's driver, HIP and NCCL ("internal error") alike.
inline constexpr int kNoSuchLibrary = 3;

/// Calls the function behind hook `Ours`.
template <auto Ours, class... Arguments>
int call_real(Arguments... arguments) {
  const auto function = real<Ours>();
  return function == nullptr ? kNoSuchLibrary : function(arguments...);
}

/// The same for a call that is not followed: everything stands aside from here on.
template <auto Ours, class... Arguments>
int aside(Unusual row, Arguments... arguments) {
  stand_aside(row);
  return call_real<Ours>(arguments...);
}

}  // namespace elbowroom::interposer::process
