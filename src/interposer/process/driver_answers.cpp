#include "interposer/process/driver_answers.hpp"

#include "interposer/process/definitions.hpp"
#include "interposer/process/elf_symbols.hpp"
#include "interposer/process/loader_visit.hpp"
#include "interposer/process/symbol_routes.hpp"

namespace elbowroom::interposer::process {
namespace {

bool in_one_object(const void* a, const void* b) { return a != nullptr && b != nullptr && object_at(a).holds(b); }

constinit std::atomic<bool> any_unfollowed{false};

}  // namespace

bool is_in_driver(const void* function) {
  return begins_with(object_at(function).file_name(), object_prefix(HookedLibrary::kDriver));
}

void* drivers_own(const HookState& state) {
  void* const known = state.real.load(std::memory_order_acquire);
  if (known != nullptr && is_in_driver(known)) { return known; }
  const Hook* hook = find_hook(state);
  return hook == nullptr ? nullptr : find_loaded_symbol(object_prefix(HookedLibrary::kDriver), hook->symbol);
}

bool dlsym_is_interposed() { return reinterpret_cast<void*>(next_dlsym()) != reinterpret_cast<void*>(c_library_dlsym()); }

bool stands_behind(const void* caller, const Hook& hook, const void* real) {
  const LoadedObject object = object_at(caller);
  if (object.holds(real) || is_in_driver(caller)) { return true; }
  if (dlsym_is_interposed() && object.holds(reinterpret_cast<const void*>(next_dlsym()))) { return true; }
  return object.find(hook.symbol) != nullptr && is_from_start(caller) && !stands_before(caller);
}

bool is_driver_function(const Hook& hook, void* found) {
  return resolve(hook) == found || is_in_driver(found) ||
         (dlsym_is_interposed() && in_one_object(reinterpret_cast<const void*>(next_dlsym()), found));
}

bool leads_to(const Hook& hook, void* found) {
  void* const real = resolve(hook);
  const bool before_driver = real != nullptr && !is_in_driver(real);
  if (real == found || (real != nullptr && !before_driver && is_in_driver(found))) { return true; }
  if (before_driver && !in_one_object(real, found)) { return false; }
  // Its own calls come to the hook where they are linked: forwarded to it, they would never end.
  if (object_at(found).refers_to(hook.symbol)) { return false; }
  // Who answers with a function that it does not export: the launches of the program are to go through that one.
  hook.state->forward_to(found);
  return true;
}

void leave_unfollowed(const Hook& hook, Route why) {
  hook.state->routes.fetch_or(why, std::memory_order_relaxed);
  note_unfollowed();
}

bool StandIn::look_up(HookState& state, void* real, const void* other) {
  const bool may = other != nullptr && ((is_in_driver(real) && is_in_driver(other)) || in_one_object(real, other));
  if (!may && other != nullptr && !loader_is_lost()) { state.routes.fetch_or(kOneForm, std::memory_order_relaxed); }
  (may ? allowed_ : refused_).store(real, std::memory_order_relaxed);
  return may;
}

void note_unfollowed() { any_unfollowed.store(true, std::memory_order_relaxed); }
bool noted_unfollowed(void* /*self*/) { return any_unfollowed.load(std::memory_order_relaxed); }

}  // namespace elbowroom::interposer::process
