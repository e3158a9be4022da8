#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interposer/core/unusual.hpp"
#include "interposer/process/hook_table.hpp"

/// The ways by which a program comes by a hooked function. There is one driver, one copy of each other library and one definition
/// of each function; whatever else a program meets makes the interposer stand aside.
namespace elbowroom::interposer::process {

/// The driver's own function of that name. Null: no driver is loaded, or it has none.
void* driver_function(const char* name);

/// Asks the driver for the entry point of `base` in that version; null: there is none, or it does not tell by versions.
using AskEntry = void* (*)(const char* base, int version, std::uint64_t flags);

/// After cuGetProcAddress or hipGetProcAddress has succeeded: puts our function where it found one that is hooked. The function
/// that was found decides, and not its name, which in a later version may mean a function with other parameters.
void substitute_found(const char* symbol, void** found, int version, std::uint64_t flags, AskEntry ask);

/// Functions of a library that are not hooked, each looked up once.
template <std::size_t N>
class LibraryFunctions {
 public:
  constexpr LibraryFunctions(HookedLibrary library, const std::array<const char*, N>& names) : library_(library), names_(names) {}

  template <class Function>
  Function get(std::size_t which) {
    void* found = found_[which].load(std::memory_order_acquire);
    if (found == nullptr) [[unlikely]] {
      found = find_beside_hooks(library_, names_[which]);
      found_[which].store(found == nullptr ? &absent_ : found, std::memory_order_release);
    }
    return found == &absent_ ? nullptr : reinterpret_cast<Function>(found);
  }

 private:
  static void* find_beside_hooks(HookedLibrary library, const char* name);
  static inline char absent_;

  HookedLibrary library_;
  std::array<const char*, N> names_;
  std::array<std::atomic<void*>, N> found_{};
};

/// The function of that name in the object that holds the first hooked function of the library; null: there is none.
void* library_function(HookedLibrary library, const char* name);

template <std::size_t N>
void* LibraryFunctions<N>::find_beside_hooks(HookedLibrary library, const char* name) {
  return library_function(library, name);
}

/// The functions that the callers of one hook mean by its name, by return address. Lock-free; a caller too many is looked up at
/// each call.
class Callers {
 public:
  [[nodiscard]] void* find(const void* caller) const {
    for (const Entry& entry : entries_) {
      if (entry.caller.load(std::memory_order_acquire) == caller) { return entry.function.load(std::memory_order_relaxed); }
    }
    return nullptr;
  }
  void add(const void* caller, void* function) {
    const std::size_t index = taken_.fetch_add(1, std::memory_order_relaxed);
    if (index >= entries_.size()) { return taken_.store(entries_.size(), std::memory_order_relaxed); }
    entries_[index].function.store(function, std::memory_order_relaxed);
    entries_[index].caller.store(caller, std::memory_order_release);
  }

 private:
  struct Entry {
    std::atomic<const void*> caller{nullptr};
    std::atomic<void*> function{nullptr};
  };
  std::array<Entry, 16> entries_{};
  std::atomic<std::size_t> taken_{0};
};

template <auto Ours>
inline constinit Callers callers_of;

/// What a caller of a library's hook means by its name, which it may be linked to; null: nobody defines it.
void* look_up_target(HookState& state, Callers& callers, const void* caller);

/// The call of a library's hook `Ours`. A second copy of the library is called by who means it, and nothing is followed then.
template <auto Ours>
class CallTarget {
 public:
  /// `caller`: the hook's return address.
  explicit CallTarget(const void* caller) : function_(callers_of<Ours>.find(caller)) {
    if (function_ == nullptr) [[unlikely]] { function_ = look_up_target(hook_state<Ours>, callers_of<Ours>, caller); }
  }

  [[nodiscard]] bool followed() const { return function_ != nullptr && !stands_aside(); }

  template <class... Arguments>
  int operator()(Arguments... arguments) const {
    return function_ == nullptr ? kNoSuchLibrary : reinterpret_cast<decltype(Ours)>(function_)(arguments...);
  }

 private:
  void* function_;
};

}  // namespace elbowroom::interposer::process
