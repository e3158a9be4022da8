#include "interposer/cuda/launch_entries.hpp"

using elbowroom::interposer::PassGate;
using elbowroom::interposer::RestGate;
using elbowroom::interposer::cuda::LaunchGate;

constinit LaunchGate elbowroom_launch_gate{};

static_assert(offsetof(RestGate, known) == 0 && offsetof(RestGate, launches) == 8);
static_assert(offsetof(LaunchGate, rest) == 0 && offsetof(LaunchGate, real) == 16 && sizeof(void*) == 8);
static_assert(offsetof(LaunchGate, pass) + sizeof(PassGate) == 64);
static_assert(RestGate::kPlaceBits == 11 && RestGate::kSpread == 0x9e3779b97f4a7c15U);

// `function` is the register that holds the function's handle, `place` that of LaunchGate::real.
#if defined(__x86_64__)
asm(R"(
.pushsection .text
.macro ELBOWROOM_LAUNCH name, function, place
.globl \name
.type \name, @function
.balign 64
\name:
  .cfi_startproc
  endbr64
  movq elbowroom_launch_gate(%rip), %rax
  testq %rax, %rax
  je 1f
  movabsq $0x9e3779b97f4a7c15, %r10
  imulq \function, %r10
  shrq $53, %r10
  cmpq \function, (%rax, %r10, 8)
  jne 1f
  movq elbowroom_launch_gate+16+8*\place(%rip), %rax
  testq %rax, %rax
  je 1f
  lock incq elbowroom_launch_gate+8(%rip)
  jmpq *%rax
1:
  jmp elbowroom_hook_\name
  .cfi_endproc
.size \name, .-\name
.endm
ELBOWROOM_LAUNCH cuLaunchKernel, %rdi, 0
ELBOWROOM_LAUNCH cuLaunchKernel_ptsz, %rdi, 1
ELBOWROOM_LAUNCH cuLaunchKernelEx, %rsi, 2
ELBOWROOM_LAUNCH cuLaunchKernelEx_ptsz, %rsi, 3
.popsection
)");
#elif defined(__aarch64__)
asm(R"(
.pushsection .text
.macro ELBOWROOM_LAUNCH name, function, place
.globl \name
.type \name, %function
.balign 64
\name:
  .cfi_startproc
  hint #34
  adrp x9, elbowroom_launch_gate
  add x9, x9, :lo12:elbowroom_launch_gate
  ldar x10, [x9]
  cbz x10, 1f
  movz x11, #0x7c15
  movk x11, #0x7f4a, lsl #16
  movk x11, #0x79b9, lsl #32
  movk x11, #0x9e37, lsl #48
  mul x11, x11, \function
  lsr x11, x11, #53
  ldr x11, [x10, x11, lsl #3]
  cmp x11, \function
  b.ne 1f
  ldr x16, [x9, #16+8*\place]
  cbz x16, 1f
  add x9, x9, #8
2:
  ldxr x11, [x9]
  add x11, x11, #1
  stxr w12, x11, [x9]
  cbnz w12, 2b
  br x16
1:
  b elbowroom_hook_\name
  .cfi_endproc
.size \name, .-\name
.endm
ELBOWROOM_LAUNCH cuLaunchKernel, x0, 0
ELBOWROOM_LAUNCH cuLaunchKernel_ptsz, x0, 1
ELBOWROOM_LAUNCH cuLaunchKernelEx, x1, 2
ELBOWROOM_LAUNCH cuLaunchKernelEx_ptsz, x1, 3
.popsection
)");
#endif
