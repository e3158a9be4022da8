#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "fake_platform.hpp"

namespace {

thread_local std::size_t allocations = 0;

}  // namespace

// Counts what the whole test program allocates; the core's promise is about what happens between two readings of the count.
void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) { return memory; }
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

namespace elbowroom::interposer {
namespace {

TEST(CoreAllocation, IsAllDoneByCreate) {
  Rules rules = rules_of(Policy::automatic);
  rules.sm_target = 108;
  const std::size_t before_create = allocations;
  Program program(rules);
  ASSERT_GT(allocations, before_create) << "the count counts nothing";
  Core& core = *program.core;
  const std::size_t before = allocations;
  // Every call of the core, first sights and full tables included.
  for (std::uint64_t i = 0; i < 26'000; ++i) {
    LaunchFacts facts = program.facts(i % 3 == 0 ? kAllReduce : kGemm, i % 3 == 0 ? kCommStream : kComputeStream);
    facts.grid.x = static_cast<std::uint32_t>(1 + i);
    facts.function += i % 2 == 0 ? 0 : i * 64;
    const Decision decision = core.on_launch(facts);
    static_cast<void>(program.fake.leaves_alone(facts.function, 1, facts.stream));
    if (core.on_launched(decision.ticket, LaunchOutcome::ok) != kNoEvent) { core.on_end_recorded(decision.ticket, true); }
    core.on_step_time(decision.step, 100);
    program.record(0x100 + i * 64, kCommStream);
    program.wait(0x20000 + i * 64, 0x100 + i * 64);
    core.on_launched(core.on_unknown(kOtherComputeStream, Core::Unknown::graph, program.now_ns).ticket, LaunchOutcome::ok);
    (void)core.on_library_gemm(kComputeStream, {}, program.now_ns);
    core.on_library_gemm_done(LaunchOutcome::ok);
    if (i % 100 == 0) {
      core.on_capture_begin();
      core.on_capture_end();
      core.forget_events();
    }
  }
  const Sink nowhere{nullptr, [](void*, const char*, std::size_t) {}};
  core.report(ProcessFacts{}, nowhere);
  EXPECT_EQ(allocations, before);
}

}  // namespace
}  // namespace elbowroom::interposer
