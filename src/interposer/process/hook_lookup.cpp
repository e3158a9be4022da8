#include "interposer/process/hook_table.hpp"
#include "interposer/process/object_stays.hpp"
#include "interposer/process/symbol_routes.hpp"

namespace elbowroom::interposer::process {

const Hook* find_hook(std::string_view symbol) {
  for (const Hook& hook : hooks()) {
    if (symbol == hook.symbol) { return &hook; }
  }
  return nullptr;
}

const Hook* find_hook(const HookState& state) {
  for (const Hook& hook : hooks()) {
    if (hook.state == &state) { return &hook; }
  }
  return nullptr;
}

void* resolve(const Hook& hook) {
  void* found = hook.state->real.load(std::memory_order_acquire);
  if (found != nullptr) { return found; }
  found = hook.state->found.load(std::memory_order_acquire);
  if (found == nullptr) { found = driver_function(hook.symbol); }
  if (found != nullptr) {
    keep_loaded(found);
    hook.state->real.store(found, std::memory_order_release);
  }
  return found;
}

void resolve_driver() {
  for (const Hook& hook : hooks()) {
    if (hook.library == HookedLibrary::kDriver) {
      hook.state->found.store(driver_function(hook.symbol), std::memory_order_release);
    }
  }
}

void* resolve_state(HookState& state) {
  const Hook* hook = find_hook(state);
  if (hook == nullptr) { return nullptr; }
  state.routes.fetch_or(kRouteLinked, std::memory_order_relaxed);
  return resolve(*hook);
}

}  // namespace elbowroom::interposer::process
