#include "interposer/process/elf_symbols.hpp"
#include "interposer/process/hook_table.hpp"

namespace elbowroom::interposer::process {

const Hook* find_hook(std::string_view symbol) {
  for (const Hook& hook : hooks()) {
    if (symbol == hook.symbol) { return &hook; }
  }
  return nullptr;
}

const Hook* find_hook(std::string_view base, int version, std::uint64_t flags) {
  const bool per_thread_asked = (flags & kPerThreadFormsAsked) != 0;
  const DefaultStream wanted = per_thread_asked ? DefaultStream::kPerThread : DefaultStream::kLegacy;
  for (const Hook& hook : hooks()) {
    if (hook.base != base || hook.base.empty() || version < hook.since) { continue; }
    if (hook.stream == wanted || hook.stream == DefaultStream::kNone) { return &hook; }
  }
  return nullptr;
}

void* resolve(const Hook& hook) {
  void* found = hook.state->real.load(std::memory_order_acquire);
  if (found != nullptr) { return found; }
  found = find_loaded_symbol(object_prefix(hook.library), hook.symbol);
  // Programs link NCCL and cuBLAS statically into libraries of their own.
  if (found == nullptr && hook.library != HookedLibrary::kDriver) { found = find_loaded_symbol("", hook.symbol); }
  if (found != nullptr) { hook.state->real.store(found, std::memory_order_release); }
  return found;
}

void* resolve_state(HookState& state) {
  for (const Hook& hook : hooks()) {
    if (hook.state == &state) {
      state.routes.fetch_or(kRouteLinked, std::memory_order_relaxed);
      return resolve(hook);
    }
  }
  return nullptr;
}

}  // namespace elbowroom::interposer::process
