#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

#include "preload/driver_abi.hpp"

namespace headroom::preload {

enum class HookedLibrary : std::uint8_t { kDriver, kNccl, kCublas };
/// What stream 0 means to a function; kNone: it takes no stream that work is put on.
enum class DefaultStream : std::uint8_t { kNone, kLegacy, kPerThread };

/// How a program came by a hooked function; bits of HookState::routes.
enum Route : std::uint8_t { kRouteLinked = 1, kRouteDlsym = 2, kRouteProcAddress = 4 };

/// What changes about a hooked function while the process runs.
struct HookState {
  std::atomic<void*> real{nullptr};
  std::atomic<std::uint8_t> routes{0};
};

template <auto Ours>
inline constinit HookState hook_state;

/// One hooked function.
struct Hook {
  const char* symbol;     // the name under which the library exports it and this one too
  std::string_view base;  // the name by which cuGetProcAddress knows it; "" where it does not
  int since;              // the first CUDA version, as in CUDA_VERSION, for which cuGetProcAddress means this function
  DefaultStream stream;
  HookedLibrary library;
  void* (*ours)();
  HookState* state;
};

std::span<const Hook> hooks();

/// The hook of that exported name, or null.
const Hook* find_hook(std::string_view symbol);

/// The hook that cuGetProcAddress means by `base` for that version and those flags, or null.
const Hook* find_hook(std::string_view base, int version, std::uint64_t flags);

/// The function behind a hook, found among the loaded libraries where it is not known yet; null when its library is not loaded.
void* resolve(const Hook& hook);
void* resolve_state(HookState& state);

/// The real function of hook `Ours`; null when its library is not loaded.
template <auto Ours>
decltype(Ours) real() {
  void* found = hook_state<Ours>.real.load(std::memory_order_acquire);
  if (found == nullptr) [[unlikely]] { found = resolve_state(hook_state<Ours>); }
  return reinterpret_cast<decltype(Ours)>(found);
}

/// Calls the real function of hook `Ours`.
template <auto Ours, class... Arguments>
int call_real(Arguments... arguments) {
  const auto function = real<Ours>();
  return function == nullptr ? cu::kErrorNotInitialized : function(arguments...);
}

}  // namespace headroom::preload
