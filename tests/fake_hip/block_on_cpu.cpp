#include "block_on_cpu.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace fake_hip {

Index3 thread_index, block_index, block_extent, grid_extent;

namespace {

constexpr std::size_t kStack = 64 * 1024;

#if defined(__x86_64__)

// Saves what the calling convention asks a function to keep, then goes on where `to` was left. A barrier costs two of these for
// each thread; swapcontext, which also asks the kernel for the signal mask, takes twenty times as long.
asm(R"(
.text
.p2align 4
.type fake_hip_switch, @function
fake_hip_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size fake_hip_switch, .-fake_hip_switch
)");
extern "C" void fake_hip_switch(void** from, void* to);

struct Context {
  void* at = nullptr;
};

void go(Context& from, Context& to) { fake_hip_switch(&from.at, to.at); }

/// `context` begins with `entry` at the top of its stack, which a function finds at a multiple of 16 plus 8.
void begin(Context& context, std::byte* stack, void (*entry)()) {
  const auto top = (reinterpret_cast<std::uintptr_t>(stack) + kStack) / 16 * 16 - 16;
  auto* const slots = reinterpret_cast<void**>(top);
  slots[0] = reinterpret_cast<void*>(entry);
  context.at = slots - 6;
}

#else

struct Context {
  ucontext_t at{};
};

void go(Context& from, Context& to) { swapcontext(&from.at, &to.at); }

void begin(Context& context, std::byte* stack, void (*entry)()) {
  getcontext(&context.at);
  context.at.uc_stack.ss_sp = stack;
  context.at.uc_stack.ss_size = kStack;
  context.at.uc_link = nullptr;
  makecontext(&context.at, entry, 0);
}

#endif

struct Fiber {
  std::unique_ptr<std::byte[]> stack = std::make_unique<std::byte[]>(kStack);
  Context context;
  Index3 index;
  bool ended = false;
};

/// Fibers outlive a block and wait for the next one, so that a block of threads that meet no barrier costs two switches a thread.
struct Blocks {
  std::mutex one_at_a_time;
  std::vector<Fiber> fibers;
  Fiber* current = nullptr;
  Context scheduler;
  void (*thread)(void* data) = nullptr;
  void* data = nullptr;
};
Blocks blocks;

void entry() {
  while (true) {
    blocks.thread(blocks.data);
    blocks.current->ended = true;
    go(blocks.current->context, blocks.scheduler);
  }
}

/// Lets every thread run to its next barrier or its end; how many have ended since the block began.
std::size_t run_to_barrier(std::size_t threads) {
  std::size_t ended = 0;
  for (std::size_t i = 0; i < threads; ++i) {
    Fiber& fiber = blocks.fibers[i];
    if (!fiber.ended) {
      blocks.current = &fiber;
      thread_index = fiber.index;
      go(blocks.scheduler, fiber.context);
    }
    ended += fiber.ended ? 1 : 0;
  }
  return ended;
}

void run_block(std::size_t threads) {
  for (std::size_t i = 0; i < threads; ++i) { blocks.fibers[i].ended = false; }
  for (std::size_t ended = 0; ended < threads;) {
    ended = run_to_barrier(threads);
    if (ended != 0 && ended != threads) {
      std::fprintf(stderr, "fake_hip: %zu of %zu threads ended at a barrier of the others\n", ended, threads);
      std::abort();
    }
  }
}

void prepare(const unsigned block[3]) {
  const std::size_t threads = std::size_t{block[0]} * block[1] * block[2];
  while (blocks.fibers.size() < threads) {
    blocks.fibers.emplace_back();
    begin(blocks.fibers.back().context, blocks.fibers.back().stack.get(), &entry);
  }
  for (std::size_t i = 0; i < threads; ++i) {
    const auto at = static_cast<unsigned>(i);
    blocks.fibers[i].index = {at % block[0], at / block[0] % block[1], at / block[0] / block[1]};
  }
}

}  // namespace

void barrier() {
  Fiber& here = *blocks.current;
  go(here.context, blocks.scheduler);
}

void run_grid(const unsigned grid[3], const unsigned block[3], void (*thread)(void* data), void* data) {
  const std::scoped_lock lock(blocks.one_at_a_time);
  prepare(block);
  blocks.thread = thread;
  blocks.data = data;
  block_extent = {block[0], block[1], block[2]};
  grid_extent = {grid[0], grid[1], grid[2]};
  for (unsigned z = 0; z < grid[2]; ++z) {
    for (unsigned y = 0; y < grid[1]; ++y) {
      for (unsigned x = 0; x < grid[0]; ++x) {
        block_index = {x, y, z};
        run_block(std::size_t{block[0]} * block[1] * block[2]);
      }
    }
  }
}

}  // namespace fake_hip
