#include "interposer/process/routes.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <string_view>

#include "interposer/process/loader.hpp"

namespace elbowroom::interposer::process {
namespace {

// Of the flags of cuGetProcAddress and hipGetProcAddress: forms whose stream 0 is the thread's own.
constexpr std::uint64_t kPerThreadFormsAsked = 2;

bool is_in(HookedLibrary library, const void* function) {
  return !object_prefix(library).empty() && object_name(function).starts_with(object_prefix(library));
}

// The first library of the kind that was met.
const char* path_of(HookedLibrary library) {
  for (const Hook& hook : hooks()) {
    void* const known = hook.library == library ? hook.state->found.load(std::memory_order_acquire) : nullptr;
    if (known != nullptr) { return object_path(known); }
  }
  return find_objects(object_prefix(library)).path;
}

// A function that a program calls, or looks up, is not the one that the hook forwards to.
void note_other(const Hook& hook, const void* found) {
  if (hook.library != HookedLibrary::kDriver) { return stand_aside(Unusual::second_library, hook.symbol); }
  stand_aside(is_in(HookedLibrary::kDriver, found) ? Unusual::second_driver : Unusual::other_definition, hook.symbol);
}

// What the name means to a caller without this library: the global scope's, or that of what the caller is linked to.
void* definition_for(const Hook& hook, const void* caller) {
  if (void* const global = find_global(hook.symbol)) { return global; }
  void* const local = caller == nullptr ? nullptr : find_in(object_path(caller), hook.symbol);
  return local == hook.ours() ? nullptr : local;
}

void* const kAskNext = nullptr;
void* const kNoSymbol = reinterpret_cast<void*>(1);

void* no_symbol(const char* name) {
  next_dlsym()(RTLD_NEXT, name);  // leaves its message for dlerror
  return kNoSymbol;
}

void* substitute(void* handle, const char* name, const void* caller) {
  const Hook* hook = find_hook(name);
  if (hook == nullptr) { return kAskNext; }
  if (handle == RTLD_NEXT) { return definition_for(*hook, nullptr) == nullptr ? no_symbol(name) : kAskNext; }
  void* const found = next_dlsym()(handle, name);
  if (found == nullptr) { return kAskNext; }
  // The global scope begins with this library; it must not answer for a library that is not there.
  if (found == hook->ours()) { return definition_for(*hook, caller) == nullptr ? no_symbol(name) : found; }
  if (stands_aside()) { return kAskNext; }
  if (find(*hook) != found) {
    const bool of_library = hook->library != HookedLibrary::kDriver || is_in(HookedLibrary::kDriver, found);
    if (of_library) { note_other(*hook, found); }
    return kAskNext;
  }
  static_cast<void>(resolve(*hook));
  hook->state->routes.fetch_or(kRouteDlsym, std::memory_order_relaxed);
  return hook->ours();
}

bool is_called(const Hook& hook, std::string_view name) { return name == hook.base || name == hook.symbol; }

// Of the forms of one function the hook is of those from its version on, up to the next newer form.
bool has_older_form(const Hook& hook) {
  return std::ranges::any_of(hooks(), [&](const Hook& other) {
    return std::string_view(other.base) == hook.base && other.stream == hook.stream && other.since < hook.since;
  });
}

// Whether `found` is the form of the function that the hook is of: the driver answers with the same one in the hook's version.
bool is_form_of(const Hook& hook, const void* found, std::uint64_t flags, AskEntry ask) {
  if (ask == nullptr || ask(hook.base, hook.since, flags) != found) { return false; }
  return !has_older_form(hook) || ask(hook.base, hook.since - 1, flags) != found;
}

}  // namespace

const Hook* find_hook(std::string_view symbol) {
  const auto found = std::ranges::find(hooks(), symbol, [](const Hook& hook) { return std::string_view(hook.symbol); });
  return found == hooks().end() ? nullptr : &*found;
}

const Hook* find_hook(const HookState& state) {
  const auto found = std::ranges::find(hooks(), &state, [](const Hook& hook) { return hook.state; });
  return found == hooks().end() ? nullptr : &*found;
}

void* driver_function(const char* name) { return find_in(path_of(HookedLibrary::kDriver), name); }

void* library_function(HookedLibrary library, const char* name) { return find_in(path_of(library), name); }

void* find(const Hook& hook) {
  void* found = hook.state->found.load(std::memory_order_acquire);
  if (found != nullptr) { return found; }
  found = find_global(hook.symbol);
  if (found == nullptr) { found = find_in(find_objects(object_prefix(hook.library)).path, hook.symbol); }
  if (found == nullptr || found == hook.ours()) { return nullptr; }
  keep_loaded(found);
  hook.state->found.store(found, std::memory_order_release);
  return found;
}

void* resolve(const Hook& hook) {
  void* found = hook.state->real.load(std::memory_order_acquire);
  if (found != nullptr) { return found; }
  found = find(hook);
  if (found != nullptr) { hook.state->real.store(found, std::memory_order_release); }
  return found;
}

void resolve_driver() {
  if (dlsym_is_interposed()) { stand_aside(Unusual::answered_look_ups); }
  if (find_objects(object_prefix(HookedLibrary::kDriver)).count > 1) { stand_aside(Unusual::second_driver); }
  for (const Hook& hook : hooks()) {
    if (hook.library != HookedLibrary::kDriver) { continue; }
    const void* const found = find(hook);
    if (found != nullptr && !is_in(HookedLibrary::kDriver, found)) { stand_aside(Unusual::other_definition, hook.symbol); }
  }
}

void* resolve_state(HookState& state) {
  const Hook* hook = find_hook(state);
  if (hook == nullptr) { return nullptr; }
  state.routes.fetch_or(kRouteLinked, std::memory_order_relaxed);
  return resolve(*hook);
}

void* look_up_target(HookState& state, Callers& callers, const void* caller) {
  const Hook* hook = find_hook(state);
  if (hook == nullptr) { return nullptr; }
  state.routes.fetch_or(kRouteLinked, std::memory_order_relaxed);
  void* found = definition_for(*hook, caller);
  if (found == nullptr) { found = resolve(*hook); }
  if (found == nullptr) { return nullptr; }
  void* first = nullptr;
  if (state.found.compare_exchange_strong(first, found)) {
    keep_loaded(found);
  } else if (first != found) {
    note_other(*hook, found);
  }
  callers.add(caller, found);
  return found;
}

void substitute_found(const char* symbol, void** found, int version, std::uint64_t flags, AskEntry ask) {
  // The first name asked for is the empty string; results may be unwanted.
  if (symbol == nullptr || *symbol == '\0' || found == nullptr || *found == nullptr || stands_aside()) { return; }
  const bool per_thread = (flags & kPerThreadFormsAsked) != 0;
  const Hook* newest = nullptr;  // of the forms that the program may mean
  for (const Hook& hook : hooks()) {
    if (!is_called(hook, symbol)) { continue; }
    const bool asked = hook.stream == DefaultStream::kNone || (hook.stream == DefaultStream::kPerThread) == per_thread;
    if (find(hook) == *found || (asked && is_form_of(hook, *found, flags, ask))) {
      static_cast<void>(resolve(hook));
      hook.state->routes.fetch_or(kRouteProcAddress, std::memory_order_relaxed);
      *found = hook.ours();
      return;
    }
    if (asked && newest == nullptr && hook.since > 0 && version >= hook.since) { newest = &hook; }
  }
  if (newest != nullptr) { stand_aside(Unusual::newer_form, newest->symbol); }
}

namespace {

// 0: go on to the next one. 1: there is no such symbol.
std::uintptr_t substitute_for(void* handle, const char* name, const void* caller) {
  const bool may = name != nullptr && may_be_hooked(name) && next_dlsym() != nullptr;
  return may ? reinterpret_cast<std::uintptr_t>(substitute(handle, name, caller)) : 0;
}

// What a vendor's library loads for itself calls that library, and nothing that is hooked.
void note_hidden(Unusual row, const void* caller) {
  constexpr std::array<std::string_view, 6> kVendors{"libcu", "libnv", "libnccl", "libamd", "libhsa", "librccl"};
  const std::string_view name = object_name(caller);
  if (std::ranges::none_of(kVendors, [&](std::string_view vendor) { return name.starts_with(vendor); })) { stand_aside(row); }
}

}  // namespace
}  // namespace elbowroom::interposer::process

// dlsym answers RTLD_NEXT and RTLD_DEFAULT for the object that calls it, and dlopen searches for it: both read their return
// address. So each of these ends in a jump to the next one, with the stack as it was.
#if defined(__clang__)
#define ELBOWROOM_TAIL_CALLS
#define ELBOWROOM_JUMP [[clang::musttail]] return
#else
#define ELBOWROOM_TAIL_CALLS __attribute__((optimize("O2", "optimize-sibling-calls")))
#define ELBOWROOM_JUMP return
#endif

extern "C" {
ELBOWROOM_TAIL_CALLS __attribute__((visibility("default"))) void* elbowroom_dlsym(void* handle, const char* name) asm("dlsym");
ELBOWROOM_TAIL_CALLS __attribute__((visibility("default"))) void* elbowroom_dlopen(const char* file, int flags) asm("dlopen");
ELBOWROOM_TAIL_CALLS __attribute__((visibility("default"))) void* elbowroom_dlmopen(long space, const char* file,
                                                                                    int flags) asm("dlmopen");
}

using elbowroom::interposer::Unusual;
using namespace elbowroom::interposer::process;

void* elbowroom_dlsym(void* handle, const char* name) {
  const std::uintptr_t found = substitute_for(handle, name, __builtin_return_address(0));
  if (found != 0) { return found == 1 ? nullptr : reinterpret_cast<void*>(found); }
  ELBOWROOM_JUMP next_dlsym()(handle, name);
}

void* elbowroom_dlopen(const char* file, int flags) {
  if ((flags & RTLD_DEEPBIND) != 0) { note_hidden(Unusual::deep_binding, __builtin_return_address(0)); }
  ELBOWROOM_JUMP next_dlopen()(file, flags);
}

void* elbowroom_dlmopen(long space, const char* file, int flags) {
  if (space != LM_ID_BASE) { note_hidden(Unusual::other_namespace, __builtin_return_address(0)); }
  ELBOWROOM_JUMP next_dlmopen()(space, file, flags);
}
