#include "interposer/process/symbol_routes.hpp"

#include <dlfcn.h>

#include <string_view>

#include "interposer/process/elf_symbols.hpp"
#include "interposer/process/hook_table.hpp"

// The ways by which a program gets the address of a hooked function. dlopen needs no hook: whatever handle a program holds, dlsym
// tells by the address that it finds whether it is the driver's function.
//
// dlsym answers RTLD_NEXT and RTLD_DEFAULT for the object that *calls* it, which it reads from its return address. So the exported
// dlsym is a few instructions that ask elbowroom_dlsym for a substitute and otherwise jump to the loader's, with the stack as it was.

extern "C" {
__attribute__((visibility("hidden"))) constinit void* elbowroom_loader_dlsym = nullptr;
__attribute__((visibility("hidden"))) constinit void* elbowroom_loader_dlvsym = nullptr;
__attribute__((visibility("hidden"))) void* elbowroom_dlsym(void* handle, const char* name);
__attribute__((visibility("hidden"))) void* elbowroom_dlvsym(void* handle, const char* name, const char* version);
}

// A substitute of 0 means "ask the loader", of 1 "there is none": the caller gets null.
#if defined(__x86_64__)
asm(R"(
.pushsection .text
.macro ELBOWROOM_ROUTE name, substitute, loader
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
  jmpq *\loader(%rip)
2:
  xorl %eax, %eax
1:
  ret
  .cfi_endproc
.size \name, .-\name
.endm
ELBOWROOM_ROUTE dlsym, elbowroom_dlsym, elbowroom_loader_dlsym
ELBOWROOM_ROUTE dlvsym, elbowroom_dlvsym, elbowroom_loader_dlvsym
.popsection
)");
#elif defined(__aarch64__)
asm(R"(
.pushsection .text
.macro ELBOWROOM_ROUTE name, substitute, loader
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
  bl \substitute
  mov x9, x0
  ldp x0, x1, [sp, #16]
  ldr x2, [sp, #32]
  ldp x29, x30, [sp], #48
  .cfi_def_cfa_offset 0
  cmp x9, #1
  b.hi 1f
  b.eq 2f
  adrp x9, \loader
  ldr x9, [x9, #:lo12:\loader]
  br x9
2:
  mov x9, #0
1:
  mov x0, x9
  ret
  .cfi_endproc
.size \name, .-\name
.endm
ELBOWROOM_ROUTE dlsym, elbowroom_dlsym, elbowroom_loader_dlsym
ELBOWROOM_ROUTE dlvsym, elbowroom_dlvsym, elbowroom_loader_dlvsym
.popsection
)");
#else
#error "elbowroom_interposer: dlsym is interposed on x86-64 and aarch64 only"
#endif

namespace elbowroom::interposer::process {
namespace {

void* const kAskLoader = nullptr;
void* const kNoSymbol = reinterpret_cast<void*>(1);

void* from_c_library(void*& known, const char* name) {
  void* found = __atomic_load_n(&known, __ATOMIC_ACQUIRE);
  if (found != nullptr) { return found; }
  found = find_loaded_symbol("libc.so", name);
  if (found == nullptr) { found = find_loaded_symbol("libdl", name); }  // glibc before 2.34
  __atomic_store_n(&known, found, __ATOMIC_RELEASE);
  return found;
}

// Whether `found`, the loader's answer for the hook's name, is the function that the hook stands for. Other libraries define
// functions of these names too (stubs, shims); those are left alone.
bool is_hooked_function(const Hook& hook, void* found) {
  if (hook.library == HookedLibrary::kDriver) { return object_of(found).starts_with(object_prefix(hook.library)); }
  return resolve(hook) == found;
}

void* substitute(const Hook& hook, void* found) {
  void* ours = hook.ours();
  if (found == nullptr) { return kAskLoader; }
  if (found == ours) {
    // The global scope begins with this library; it must not answer for a library that is not there.
    if (resolve(hook) != nullptr) { return ours; }
    loader_dlsym()(RTLD_NEXT, hook.symbol);  // leaves its message for dlerror
    return kNoSymbol;
  }
  if (!is_hooked_function(hook, found)) { return kAskLoader; }
  void* unknown = nullptr;
  hook.state->real.compare_exchange_strong(unknown, found);
  hook.state->routes.fetch_or(kRouteDlsym, std::memory_order_relaxed);
  return ours;
}

// Once, when the driver is known to be loaded: what it lacks then it will always lack.
bool resolve_driver() {
  for (const Hook& hook : hooks()) {
    if (hook.library == HookedLibrary::kDriver) { resolve(hook); }
  }
  return true;
}

// Of the hooks that cuGetProcAddress or hipGetProcAddress may have meant, the one whose driver function it returned. Drivers that return another
// address than they export are taken at their word for name, version and flags.
const Hook* hook_of_address(std::string_view base, int version, std::uint64_t flags, void* found) {
  static const bool resolved = resolve_driver();
  for (const Hook& hook : hooks()) {
    if (resolved && hook.state->real.load(std::memory_order_relaxed) == found) { return &hook; }
  }
  const Hook* meant = find_hook(base, version, flags);
  return meant != nullptr && object_of(found).starts_with(object_prefix(meant->library)) ? meant : nullptr;
}

bool is_base_name(std::string_view name) {
  for (const Hook& hook : hooks()) {
    if (!name.empty() && (name == hook.base || name == hook.symbol)) { return true; }
  }
  return false;
}

}  // namespace

void substitute_found(const char* symbol, void** found, int version, std::uint64_t flags) {
  // The first name asked for is the empty string; results may be unwanted.
  if (symbol == nullptr || found == nullptr || *found == nullptr || !is_base_name(symbol)) { return; }
  const Hook* hook = hook_of_address(symbol, version, flags, *found);
  if (hook == nullptr || *found == hook->ours()) { return; }
  void* unknown = nullptr;
  hook->state->real.compare_exchange_strong(unknown, *found);
  hook->state->routes.fetch_or(kRouteProcAddress, std::memory_order_relaxed);
  *found = hook->ours();
}

DlsymFunction loader_dlsym() { return reinterpret_cast<DlsymFunction>(from_c_library(elbowroom_loader_dlsym, "dlsym")); }
DlvsymFunction loader_dlvsym() { return reinterpret_cast<DlvsymFunction>(from_c_library(elbowroom_loader_dlvsym, "dlvsym")); }

}  // namespace elbowroom::interposer::process

using namespace elbowroom::interposer::process;

void* elbowroom_dlsym(void* handle, const char* name) {
  const DlsymFunction loader = loader_dlsym();
  if (loader == nullptr) { return kNoSymbol; }
  // Who asks for the next definition has one of its own and wants the driver's.
  if (name == nullptr || !may_be_hooked(name) || handle == RTLD_NEXT) { return kAskLoader; }
  const Hook* hook = find_hook(name);
  return hook == nullptr ? kAskLoader : substitute(*hook, loader(handle, name));
}

void* elbowroom_dlvsym(void* handle, const char* name, const char* version) {
  const DlvsymFunction loader = loader_dlvsym();
  if (loader == nullptr) { return kNoSymbol; }
  if (name == nullptr || !may_be_hooked(name) || handle == RTLD_NEXT) { return kAskLoader; }
  const Hook* hook = find_hook(name);
  return hook == nullptr ? kAskLoader : substitute(*hook, loader(handle, name, version));
}
