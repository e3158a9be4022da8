#include <array>
#include <cstddef>

#include "interposer/process/elf_symbols.hpp"
#include "interposer/process/meant.hpp"

// A program that looks a function up has its own pointer for each copy of a library. Each gets a function of its own here. A few
// instructions leave word of the copy for the thread and jump to the hook, with the stack as it was.

extern "C" {
__attribute__((visibility("hidden"))) constinit thread_local const elbowroom::interposer::process::Redirect* elbowroom_redirect =
    nullptr;
__attribute__((visibility("hidden"))) elbowroom::interposer::process::Redirect elbowroom_redirects[128];
__attribute__((visibility("hidden"))) void elbowroom_redirect_entries();
}

namespace elbowroom::interposer::process {
namespace {

constexpr std::size_t kRedirects = 128;
static_assert(sizeof(Redirect) == 32 && offsetof(Redirect, ours) == 0 && sizeof elbowroom_redirects == kRedirects * 32);

#if defined(__x86_64__)
constexpr std::size_t kEntryBytes = 32;
asm(R"(
.pushsection .text
.balign 32
.globl elbowroom_redirect_entries
.hidden elbowroom_redirect_entries
.type elbowroom_redirect_entries, @function
elbowroom_redirect_entries:
  .cfi_startproc
.set elbowroom_place, 0
.rept 128
  .balign 32
  endbr64
  leaq elbowroom_redirects+elbowroom_place(%rip), %r11
  movq elbowroom_redirect@gottpoff(%rip), %r10
  movq %r11, %fs:(%r10)
  jmpq *(%r11)
  .set elbowroom_place, elbowroom_place + 32
.endr
  .cfi_endproc
.size elbowroom_redirect_entries, .-elbowroom_redirect_entries
.popsection
)");
#elif defined(__aarch64__)
constexpr std::size_t kEntryBytes = 64;
asm(R"(
.pushsection .text
.balign 64
.globl elbowroom_redirect_entries
.hidden elbowroom_redirect_entries
.type elbowroom_redirect_entries, %function
elbowroom_redirect_entries:
  .cfi_startproc
.set elbowroom_place, 0
.rept 128
  .balign 64
  hint #34
  adrp x9, elbowroom_redirects
  add x9, x9, :lo12:elbowroom_redirects
  add x9, x9, #elbowroom_place
  mrs x16, tpidr_el0
  adrp x17, :gottprel:elbowroom_redirect
  ldr x17, [x17, :gottprel_lo12:elbowroom_redirect]
  str x9, [x16, x17]
  ldr x16, [x9]
  br x16
  .set elbowroom_place, elbowroom_place + 32
.endr
  .cfi_endproc
.size elbowroom_redirect_entries, .-elbowroom_redirect_entries
.popsection
)");
#endif

// How many are taken, and which of them are whole: without a lock, which a forked child could find held.
constinit std::atomic<std::size_t> redirects_taken{0};
constinit std::array<std::atomic<bool>, kRedirects> ready{};

void* entry(std::size_t index) { return reinterpret_cast<char*>(&elbowroom_redirect_entries) + index * kEntryBytes; }

}  // namespace

const Redirect* take_redirect() {
  const Redirect* redirect = elbowroom_redirect;
  if (redirect != nullptr) { elbowroom_redirect = nullptr; }
  return redirect;
}

void* redirect_to(const Hook& hook, void* function) {
  for (std::size_t i = 0; i < kRedirects && i < redirects_taken.load(std::memory_order_acquire); ++i) {
    const Redirect& known = elbowroom_redirects[i];
    if (!ready[i].load(std::memory_order_acquire) || is_over(known.meant.stay)) { continue; }
    if (known.state == hook.state && known.meant.function == function) { return entry(i); }
  }
  const std::size_t index = redirects_taken.fetch_add(1, std::memory_order_acq_rel);
  if (index >= kRedirects) {
    redirects_taken.store(kRedirects, std::memory_order_release);
    return function;
  }
  const LoadedObject object = object_at(function);
  elbowroom_redirects[index] = {hook.ours(), hook.state, {function, copy_in(object), true, stay_of(object)}};
  ready[index].store(true, std::memory_order_release);
  return entry(index);
}

}  // namespace elbowroom::interposer::process
