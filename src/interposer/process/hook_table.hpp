#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace elbowroom::interposer::process {

/// kDriver: what launches kernels, CUDA's driver or the HIP runtime. kNccl: NCCL or RCCL.
enum class HookedLibrary : std::uint8_t { kDriver, kNccl, kCublas, kCublasLt };
/// What stream 0 means to a function; kNone: it takes no stream that work is put on.
enum class DefaultStream : std::uint8_t { kNone, kLegacy, kPerThread };

/// How a program came by a hooked function; bits of HookState::routes.
/// Four are none, but why a function was left alone. kNewerForm: the driver has a form of it that is newer than the hook.
/// kPastShim: the program asked for the driver's, and the hook forwards to a library that stands before that. kOneForm: such a
/// library has the function and not the form of it by which something would be added. kUnknownForm: such a library answers with one
/// function, which may be of several forms.
enum Route : std::uint8_t {
  kRouteLinked = 1,
  kRouteDlsym = 2,
  kRouteProcAddress = 4,
  kNewerForm = 8,
  kPastShim = 16,
  kOneForm = 32,
  kUnknownForm = 64
};

/// What changes about a hooked function while the process runs.
struct HookState {
  std::atomic<void*> real{nullptr};
  std::atomic<void*> found{nullptr};  ///< the same before the program asked for it
  std::atomic<std::uint8_t> routes{0};
  std::atomic<std::atomic<void*>*> kept{nullptr};  ///< where an entry that does not ask here keeps `real`; null: there is none

  /// The hook forwards to another function from now on, whoever else keeps the one before.
  void forward_to(void* function) {
    real.store(function);
    if (std::atomic<void*>* also = kept.load()) { also->store(function); }
  }
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
  std::array<std::string_view, 4> object_prefixes;  ///< how the file of each HookedLibrary begins; "": it has none
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

/// The function of the driver behind a hook: that of the next library that interposes it, or else the driver's own. Found among the
/// loaded libraries where it is not known yet; null when the driver is not loaded.
void* resolve(const Hook& hook);
/// Finds all of the driver's functions at once. To find one later takes the loader's lock. A child that a signal handler forks
/// while its thread holds that lock would wait for ever.
void resolve_driver();
void* resolve_state(HookState& state);

/// The driver's function behind hook `Ours`; null when the driver is not loaded. There is one driver in a process; of other
/// libraries there may be several copies (meant.hpp).
template <auto Ours>
decltype(Ours) real() {
  void* found = hook_state<Ours>.real.load(std::memory_order_acquire);
  if (found == nullptr) [[unlikely]] { found = resolve_state(hook_state<Ours>); }
  return reinterpret_cast<decltype(Ours)>(found);
}

/// Whether another function of the driver may be called in place of a hooked one: not where a preloaded library has that one alone,
/// which would never see the call. Looked up once for each function that the hook forwards to; no lock.
class StandIn {
 public:
  [[nodiscard]] bool allowed(HookState& state, void* real, const void* other) {
    if (real == allowed_.load(std::memory_order_relaxed)) { return true; }
    return real != refused_.load(std::memory_order_relaxed) && look_up(state, real, other);
  }

 private:
  bool look_up(HookState& state, void* real, const void* other);

  std::atomic<void*> allowed_{nullptr}, refused_{nullptr};  ///< the functions of which it is known
};

template <auto Ours>
inline constinit StandIn stand_in;

/// Of hook `Ours`, for which `other` is always the same function. Where it may not, the report says so.
template <auto Ours>
bool may_call_instead(const void* other) {
  return stand_in<Ours>.allowed(hook_state<Ours>, reinterpret_cast<void*>(real<Ours>()), other);
}

/// "Not initialized", in CUDA's driver, HIP and NCCL ("internal error") alike.
inline constexpr int kNoSuchLibrary = 3;

/// Calls the driver's function behind hook `Ours`.
template <auto Ours, class... Arguments>
int call_real(Arguments... arguments) {
  const auto function = real<Ours>();
  return function == nullptr ? kNoSuchLibrary : function(arguments...);
}

}  // namespace elbowroom::interposer::process
