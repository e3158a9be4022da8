#include "interposer/process/symbol_routes.hpp"

#include <dlfcn.h>

#include <string_view>

#include "interposer/process/definitions.hpp"
#include "interposer/process/driver_answers.hpp"
#include "interposer/process/elf_symbols.hpp"
#include "interposer/process/hook_table.hpp"
#include "interposer/process/loader_visit.hpp"
#include "interposer/process/meant.hpp"
#include "interposer/process/object_stays.hpp"

// The ways by which a program gets the address of a hooked function. dlopen needs no hook: whatever handle a program holds, dlsym
// tells by the address that it finds whether it is the driver's function.
//
// dlsym answers RTLD_NEXT and RTLD_DEFAULT for the object that *calls* it, which it reads from its return address. So the exported
// dlsym is a few instructions. They ask elbowroom_dlsym for a substitute and otherwise jump to the next one, with the stack as it
// was.

extern "C" {
__attribute__((visibility("hidden"))) constinit void* elbowroom_next_dlsym = nullptr;
__attribute__((visibility("hidden"))) constinit void* elbowroom_next_dlvsym = nullptr;
__attribute__((visibility("hidden"))) void* elbowroom_dlsym(void* handle, const char* name, const char*, const void* caller);
__attribute__((visibility("hidden"))) void* elbowroom_dlvsym(void* handle, const char* name, const char* version,
                                                             const void* caller);
}

// A substitute of 0 means "ask the next one", of 1 "there is none": the caller gets null.
#if defined(__x86_64__)
asm(R"(
.pushsection .text
.macro ELBOWROOM_ROUTE name, substitute, next
.globl \name
.type \name, @function
.balign 16
\name:
  .cfi_startproc
  endbr64
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  pushq %rdx
  .cfi_adjust_cfa_offset 8
  movq 24(%rsp), %rcx
  call \substitute
  popq %rdx
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  cmpq $1, %rax
  ja 1f
  je 2f
  jmpq *\next(%rip)
2:
  xorl %eax, %eax
1:
  ret
  .cfi_endproc
.size \name, .-\name
.endm
ELBOWROOM_ROUTE dlsym, elbowroom_dlsym, elbowroom_next_dlsym
ELBOWROOM_ROUTE dlvsym, elbowroom_dlvsym, elbowroom_next_dlvsym
.popsection
)");
#elif defined(__aarch64__)
asm(R"(
.pushsection .text
.macro ELBOWROOM_ROUTE name, substitute, next
.globl \name
.type \name, %function
.balign 16
\name:
  .cfi_startproc
  stp x29, x30, [sp, #-48]!
  .cfi_def_cfa_offset 48
  .cfi_offset 29, -48
  .cfi_offset 30, -40
  stp x0, x1, [sp, #16]
  str x2, [sp, #32]
  mov x3, x30
  bl \substitute
  mov x9, x0
  ldp x0, x1, [sp, #16]
  ldr x2, [sp, #32]
  ldp x29, x30, [sp], #48
  .cfi_def_cfa_offset 0
  cmp x9, #1
  b.hi 1f
  b.eq 2f
  adrp x9, \next
  ldr x9, [x9, #:lo12:\next]
  br x9
2:
  mov x9, #0
1:
  mov x0, x9
  ret
  .cfi_endproc
.size \name, .-\name
.endm
ELBOWROOM_ROUTE dlsym, elbowroom_dlsym, elbowroom_next_dlsym
ELBOWROOM_ROUTE dlvsym, elbowroom_dlvsym, elbowroom_next_dlvsym
.popsection
)");
#else
#error "elbowroom_interposer: dlsym is interposed on x86-64 and aarch64 only"
#endif

namespace elbowroom::interposer::process {
namespace {

void* const kAskNext = nullptr;
void* const kNoSymbol = reinterpret_cast<void*>(1);

void* next_of(void*& known, const char* name) {
  void* found = __atomic_load_n(&known, __ATOMIC_ACQUIRE);
  if (found != nullptr) { return found; }
  found = next_at_start(name);
  if (found == nullptr) { found = in_c_library(name); }
  __atomic_store_n(&known, found, __ATOMIC_RELEASE);
  return found;
}

// While there are no threads yet: a forked child may not look them up (loader_is_lost).
[[gnu::constructor]] void find_next_ones() {
  static_cast<void>(next_dlsym());
  static_cast<void>(next_dlvsym());
  static_cast<void>(next_dlclose());
  static_cast<void>(c_library_dlsym());
}

void* no_symbol(const Hook& hook) {
  c_library_dlsym()(RTLD_NEXT, hook.symbol);  // leaves its message for dlerror
  return kNoSymbol;
}

void* substitute_driver(const Hook& hook, void* handle, void* found, const void* caller) {
  void* ours = hook.ours();
  // The global scope begins with this library; it must not answer for a library that is not there.
  if (found == ours) {
    const bool visible = visible_definition(hook.symbol, handle == RTLD_DEFAULT ? caller : nullptr) != nullptr;
    return visible && resolve(hook) != nullptr ? ours : no_symbol(hook);
  }
  if (!is_driver_function(hook, found) || stands_behind(caller, hook, resolve(hook))) { return kAskNext; }
  if (!leads_to(hook, found)) {
    leave_unfollowed(hook, kPastShim);
    return kAskNext;
  }
  hook.state->routes.fetch_or(kRouteDlsym, std::memory_order_relaxed);
  return ours;
}

// A program that looked a function up calls that one, whichever other copies of the library there are. Who defines the function
// itself is called by the hook, and gets what it looks for past it.
void* substitute_library(const Hook& hook, void* handle, void* found, const void* caller) {
  const LoadedObject calling = object_at(caller);
  const bool defines = calling.find(hook.symbol) != nullptr;
  if (found == hook.ours() && !(defines && calling.binds_own_first())) {
    found = visible_definition(hook.symbol, handle == RTLD_DEFAULT ? caller : nullptr);
    if (found == nullptr) { return no_symbol(hook); }
    // As the loader does for this caller, which never goes. It would have taken note of what it found.
    if (handle == RTLD_DEFAULT && is_from_start(caller)) { keep_loaded(found); }
    if (defines) { return found; }
  }
  if (defines) { return kAskNext; }
  hook.state->routes.fetch_or(kRouteDlsym, std::memory_order_relaxed);
  return redirect_to(hook, found);
}

// Who must not look at the loaded objects gets the library's own functions, whose calls nobody follows.
bool may_substitute(const char* name) {
  if (name == nullptr || !may_be_hooked(name)) { return false; }
  if (!loader_is_lost()) { return true; }
  note_unfollowed();
  return false;
}

void* substitute(const Hook& hook, void* handle, void* found, const void* caller) {
  if (found == nullptr) { return kAskNext; }
  const bool driver = hook.library == HookedLibrary::kDriver;
  return driver ? substitute_driver(hook, handle, found, caller) : substitute_library(hook, handle, found, caller);
}

// Whether this library has the next definition after `caller`, who stands before it.
bool is_next_after(const void* caller, const char* name) {
  bool before = false;
  bool between = false;
  visit_loaded_objects([&](const LoadedObject& object) {
    if (is_interposer(object)) { return true; }
    between = between || (before && object.find(name) != nullptr);
    before = before || object.holds(caller);
    return false;
  });
  return before && !between;
}

// Who asks for the next definition and stands behind has one of its own and wants the one after it. For the others this library
// must not answer where nobody else would, and calls what would have answered.
void* substitute_next(const Hook& hook, const void* caller) {
  if (!is_next_after(caller, hook.symbol)) { return kAskNext; }
  void* found = visible_definition(hook.symbol, nullptr);
  if (found == nullptr) { return no_symbol(hook); }
  if (hook.library == HookedLibrary::kDriver || dlsym_is_interposed()) { return kAskNext; }
  hook.state->routes.fetch_or(kRouteDlsym, std::memory_order_relaxed);
  return redirect_to(hook, found);
}

// NCCL may look for its tuner plugin in the whole program (NCCL_TUNER_PLUGIN=STATIC_PLUGIN). This library is one for who names its
// file, and for nobody else.
void* substitute_tuner(void* handle, const char* name) {
  const bool whole_program = handle == RTLD_DEFAULT || handle == _r_debug.r_map;
  if (!whole_program || !begins_with(name, "ncclTunerPlugin_v")) { return kAskNext; }
  if (!is_interposer(object_at(next_dlsym()(handle, name)))) { return kAskNext; }
  void* found = in_global_scope(name);
  return found == nullptr || is_interposer(object_at(found)) ? kNoSymbol : found;
}

}  // namespace

void* in_global_scope(const char* name) {
  const DlsymFunction loader = c_library_dlsym();
  return loader == nullptr ? nullptr : loader(RTLD_NEXT, name);
}

void* driver_function(const char* name) {
  if (loader_is_lost()) { return in_global_scope(name); }
  const std::string_view prefix = object_prefix(HookedLibrary::kDriver);
  if (void* next = next_at_start(name)) { return next; }
  void* own = find_loaded_symbol(prefix, name);
  if (own == nullptr || !dlsym_is_interposed()) { return own; }
  void* handle = open_loaded(object_at(own));
  void* found = handle == nullptr ? nullptr : next_dlsym()(handle, name);
  return found == nullptr ? own : found;
}

void* in_c_library(const char* name) {
  void* found = find_loaded_symbol("libc.so", name);
  return found != nullptr ? found : find_loaded_symbol("libdl", name);  // glibc before 2.34
}

void* open_object(const char* name, int flags) {
  static const auto open = reinterpret_cast<void* (*)(const char*, int)>(in_c_library("dlopen"));
  return open == nullptr ? nullptr : open(name, flags);
}

void* open_loaded(const LoadedObject& object) {
  return *object.path() == '\0' ? nullptr : open_object(object.path(), RTLD_LAZY | RTLD_NOLOAD);
}

DlsymFunction next_dlsym() { return reinterpret_cast<DlsymFunction>(next_of(elbowroom_next_dlsym, "dlsym")); }
DlvsymFunction next_dlvsym() { return reinterpret_cast<DlvsymFunction>(next_of(elbowroom_next_dlvsym, "dlvsym")); }
DlcloseFunction next_dlclose() {
  static constinit void* known = nullptr;
  return reinterpret_cast<DlcloseFunction>(next_of(known, "dlclose"));
}
DlsymFunction c_library_dlsym() {
  static void* known = nullptr;
  void* found = __atomic_load_n(&known, __ATOMIC_ACQUIRE);
  if (found == nullptr) {
    found = in_c_library("dlsym");
    __atomic_store_n(&known, found, __ATOMIC_RELEASE);
  }
  return reinterpret_cast<DlsymFunction>(found);
}

}  // namespace elbowroom::interposer::process

using namespace elbowroom::interposer::process;

// `caller` is where dlsym was called from.
void* elbowroom_dlsym(void* handle, const char* name, const char* /*unused*/, const void* caller) {
  const DlsymFunction next = next_dlsym();
  if (next == nullptr) { return kNoSymbol; }
  if (!may_substitute(name)) { return kAskNext; }
  const Hook* hook = find_hook(name);
  if (hook == nullptr) { return substitute_tuner(handle, name); }
  return handle == RTLD_NEXT ? substitute_next(*hook, caller) : substitute(*hook, handle, next(handle, name), caller);
}

void* elbowroom_dlvsym(void* handle, const char* name, const char* version, const void* caller) {
  const DlvsymFunction next = next_dlvsym();
  if (next == nullptr) { return kNoSymbol; }
  if (!may_substitute(name)) { return kAskNext; }
  const Hook* hook = find_hook(name);
  if (hook == nullptr) { return kAskNext; }
  return handle == RTLD_NEXT ? substitute_next(*hook, caller) : substitute(*hook, handle, next(handle, name, version), caller);
}
