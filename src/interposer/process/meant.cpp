#include "interposer/process/meant.hpp"

#include "interposer/process/definitions.hpp"
#include "interposer/process/elf_symbols.hpp"
#include "interposer/process/loader_visit.hpp"

namespace elbowroom::interposer::process {

bool Callers::Entry::write(const void* from, const void* to, Stay of_caller, const MeantFunction& meant) {
  std::uint32_t before = writes.load(kRelaxed);
  if ((before & 1U) != 0 || !writes.compare_exchange_strong(before, before + 1, std::memory_order_acq_rel)) { return false; }
  std::atomic_thread_fence(std::memory_order_release);
  begin.store(from, kRelaxed);
  end.store(to, kRelaxed);
  caller.store(of_caller, kRelaxed);
  callee.store(meant.stay, kRelaxed);
  function.store(meant.function, kRelaxed);
  copy.store(meant.copy, kRelaxed);
  certain.store(meant.certain, kRelaxed);
  writes.store(before + 2, std::memory_order_release);
  return true;
}

void Callers::add(const void* begin, const void* end, Stay caller, const MeantFunction& meant) {
  const std::size_t count = taken_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count && i < entries_.size(); ++i) {
    if (entries_[i].is_over() && entries_[i].write(begin, end, caller, meant)) { return; }
  }
  const std::size_t index = taken_.fetch_add(1, std::memory_order_acq_rel);
  if (index >= entries_.size()) {
    taken_.store(entries_.size(), std::memory_order_release);
    return;
  }
  entries_[index].write(begin, end, caller, meant);
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
