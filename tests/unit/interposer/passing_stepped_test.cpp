#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>

#include "fake_platform.hpp"
#include "interposer/core/passing.hpp"

#if defined(__x86_64__)

namespace elbowroom::interposer {
namespace {

PassGate stepped_gate;
PassingThread stepped_thread;
const LaunchShape kFourBlocks{kGemm, {4, 1, 1}, {32, 1, 1}, 0, 1};

[[gnu::noinline]] bool take(PassingThread& thread, const PassGate& gate, const LaunchShape& shape, StreamId stream) {
  return thread.take(gate, shape, stream, 1);
}

enum class End : std::uint8_t { long_way, short_way, before_that, untraced };

/// A handler interrupts a launch after so many instructions. Four blocks are too many on the compute stream. The handler is told
/// of three other streams, on which they are not.
End launch_interrupted_after(int instructions) {
  const pid_t child = fork();
  if (child == 0) {
    stepped_thread.tell(stepped_gate.round, kCommStream, {true});
    stepped_thread.tell(stepped_gate.round, kComputeStream, {true, 3});
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) { _exit(2); }
    asm volatile("int3");  // stops here
    const int code = take(stepped_thread, stepped_gate, kFourBlocks, kComputeStream) ? 1 : 0;
    asm volatile("syscall" ::"a"(SYS_exit_group), "D"(code));  // the C library's _exit is found by thousands of instructions
  }
  int status = 0;
  waitpid(child, &status, 0);
  for (int i = 0; i < instructions && WIFSTOPPED(status); ++i) {
    if (ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) != 0) { kill(child, SIGKILL); }
    waitpid(child, &status, 0);
  }
  if (!WIFSTOPPED(status)) { return WIFEXITED(status) && WEXITSTATUS(status) != 2 ? End::before_that : End::untraced; }
  if (ptrace(PTRACE_CONT, child, nullptr, SIGUSR1) != 0) { kill(child, SIGKILL); }
  waitpid(child, &status, 0);
  if (!WIFEXITED(status)) { return End::untraced; }
  return WEXITSTATUS(status) == 1 ? End::short_way : End::long_way;
}

// No launch takes the terms of one stream for those of another, whenever a handler comes.
TEST(PassingStepped, KeepsToTheTermsOfItsStream) {
  const auto passing = std::make_unique<interposer::Passing>(&stepped_gate);
  passing->forget_shapes();
  const PassedKind kind{1, true, true, 2, PassedKind::blocks_of(kFourBlocks.grid)};
  passing->shapes().remember(kFourBlocks.print(PassingShapes::era(passing->round())), kind.pack(), 7,
                             [](const PassedKind& /*what*/, std::uint64_t /*launches*/) {});
  stepped_thread.use(passing->of(0));
  struct sigaction action = {}, before = {};
  action.sa_handler = [](int) {
    for (StreamId other = 0x7000; other < 0x7003; ++other) { stepped_thread.tell(stepped_gate.round, other, {true}); }
  };
  sigaction(SIGUSR1, &action, &before);
  int instructions = 0;
  End end = End::long_way;
  for (; end != End::before_that; ++instructions) {
    end = launch_interrupted_after(instructions);
    if (end == End::untraced) { break; }
    EXPECT_NE(end, End::short_way) << "interrupted after " << instructions << " instructions";
  }
  sigaction(SIGUSR1, &before, nullptr);
  stepped_thread.use(nullptr);
  if (end == End::untraced) { GTEST_SKIP() << "this system lets no process be traced"; }
  EXPECT_GT(instructions, 50);
}

}  // namespace
}  // namespace elbowroom::interposer

#endif
