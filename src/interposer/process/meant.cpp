#include "interposer/process/meant.hpp"

#include "interposer/process/definitions.hpp"
#include "interposer/process/elf_symbols.hpp"

namespace elbowroom::interposer::process {

void Callers::add(const void* begin, const void* end, Stay caller, const MeantFunction& meant) {
  const std::size_t index = taken_.fetch_add(1, std::memory_order_acq_rel);
  if (index >= entries_.size()) {
    taken_.store(entries_.size(), std::memory_order_release);
    return;
  }
  Entry& entry = entries_[index];
  entry.begin = begin;
  entry.end = end;
  entry.caller = caller;
  entry.meant = meant;
  entry.ready.store(true, std::memory_order_release);
}

MeantFunction look_up_meant(HookState& state, Callers& callers, const void* caller) {
  const Hook* hook = find_hook(state);
  if (hook == nullptr) { return {}; }
  state.routes.fetch_or(kRouteLinked, std::memory_order_relaxed);
  const Definition definition = definition_for(hook->symbol, caller);
  const LoadedObject defining = object_at(definition.function);
  const MeantFunction meant{definition.function, copy_in(defining), definition.certain, stay_of(defining)};
  // Its library may be loaded later, or may be on its way out.
  if (definition.function == nullptr || is_unloading()) { return meant; }
  const LoadedObject object = object_at(caller);
  const bool generated = object.begin() == nullptr;  // code that no object holds
  callers.add(generated ? caller : object.begin(), generated ? static_cast<const char*>(caller) + 1 : object.end(), stay_of(object),
              meant);
  return meant;
}

}  // namespace elbowroom::interposer::process
