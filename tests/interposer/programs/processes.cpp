#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "driver_program.hpp"
#include "forking.hpp"
#include "interposer/core/core.hpp"

// Several threads, contexts, devices and processes.

namespace {

using elbowroom::interposer::kEventSlots;

constexpr int kLaunches = 2000;

// Each thread has its own streams, and every launch must arrive once, in its order, whatever the other threads do.
void two_threads() {
  use_device(0);
  fake_reset();
  const auto work = [](unsigned first) {
    use_device(static_cast<int>(first % 2));
    const cu::Stream compute = make_stream();
    const cu::Stream comm = make_stream();
    const cu::Event done = make_event();
    const cu::Function gemm = fake_function("gemm", 64, 0);
    const cu::Function all_reduce = fake_function(kAllReduce, 96, 0);
    for (unsigned i = 0; i < kLaunches; ++i) {
      EXPECT(cuLaunchKernel(all_reduce, 24, 1, 1, 544, 1, 1, 0, comm, nullptr, nullptr) == 0);
      EXPECT(cuLaunchKernel(gemm, first + i, 1, 1, 256, 1, 1, 0, compute, nullptr, nullptr) == 0);
      EXPECT(cuEventRecord(done, comm) == 0 && cuStreamWaitEvent(compute, done, 0) == 0);
      if (i % 64 == 0) { EXPECT(cuStreamSynchronize(comm) == 0); }
    }
  };
  std::thread other(work, 1'000'001);
  work(2'000'000);
  other.join();
  unsigned next[2] = {2'000'000, 1'000'001};
  std::size_t collectives = 0;
  for (std::size_t i = 0; i < fake_call_count(); ++i) {
    const FakeCall& call = *fake_call(i);
    if (call.function == nullptr) { continue; }
    if (call.grid[0] == 24) {
      ++collectives;
      continue;
    }
    const std::size_t thread = call.grid[0] < 2'000'000 ? 1 : 0;
    EXPECT(call.grid[0] == next[thread]++);
  }
  EXPECT(collectives == 2 * kLaunches && next[0] == 2'000'000 + kLaunches && next[1] == 1'000'001 + kLaunches);
}

// The events that carry a gate belong to the context of the streams, and no gate crosses contexts.
void several_contexts() {
  cu::Context contexts[3] = {use_device(0), use_device(1), nullptr};
  EXPECT(cuCtxCreate_v2(&contexts[2], 0, 0) == 0);
  cu::Event gates[3];
  for (int i = 0; i < 3; ++i) {
    EXPECT(cuCtxSetCurrent(contexts[i]) == 0);
    see_begins();
    const cu::Stream compute = make_stream();
    const cu::Stream comm = make_stream();
    fake_reset();
    fake_set_finished(0);
    EXPECT(launch_on(comm, fake_function(kAllReduce, 96, 0), 24) == 0);
    EXPECT(launch_on(compute, fake_function("gemm", 64, 0)) == 0);
    const cu::LaunchAttribute* completion = attribute_of(*fake_call(0), cu::kLaunchCompletionEvent);
    EXPECT(fake_call_count() == 3 && completion != nullptr && is_call(1, "cuStreamWaitEvent"));
    gates[i] = completion->value.launch_completion_event.event;
    EXPECT(fake_call(1)->event == gates[i] && fake_call(1)->stream == compute);
    // The next context's collective gets the same slot, with that of see_begins, whose event must be another one there.
    for (std::size_t slot = 2; slot < kEventSlots; ++slot) { EXPECT(launch_on(comm, fake_function(kAllReduce, 96, 0), 24) == 0); }
    // What has not ended keeps the launches of other contexts from waiting.
    all_ends();
    EXPECT(launch_on(compute, fake_function("gemm", 64, 0)) == 0);
  }
  EXPECT(gates[0] != gates[1] && gates[1] != gates[2] && gates[0] != gates[2]);
}

void launch_some() {
  use_device(0);
  const cu::Stream compute = make_stream();
  const cu::Stream comm = make_stream();
  for (int i = 0; i < 5; ++i) {
    EXPECT(launch_on(comm, fake_function(kAllReduce, 96, 0), 24) == 0);
    EXPECT(launch_on(compute, fake_function("gemm", 64, 0)) == 0);
  }
}

// A child stands aside, even when it was forked while other threads were launching.
void forked() {
  fake_set_logging(0);  // the log has a lock of its own, which a thread that is not in the child may hold
  in_children_beside(launch_some);
}

// Only processes that used the driver leave a report; tests/interposer/reports.sh counts them.
void forked_idle() {
  launch_some();
  in_child([] {});
}

// Forks a child that launches until a timer's handler ends it in the middle, at another moment each time. A child that has not
// ended after ten seconds hangs.
void interrupt_children(void (*handler)(int)) {
  constexpr int kChildren = 40;
  for (int i = 0; i < kChildren; ++i) {
    const pid_t child = fork();
    EXPECT(child >= 0);
    if (child == 0) {
      use_device(0);
      fake_set_logging(0);
      const cu::Stream compute = make_stream();
      const cu::Stream comm = make_stream();
      const cu::Event done = make_event();
      const cu::Function gemm = fake_function("gemm", 64, 0);
      const cu::Function all_reduce = fake_function(kAllReduce, 96, 0);
      EXPECT(launch_on(compute, gemm) == 0);  // which registers what is done at exit: exit() in a handler may not interrupt that
      std::signal(SIGALRM, handler);
      itimerval timer{};
      timer.it_value.tv_usec = 2'000 + 37 * i;
      setitimer(ITIMER_REAL, &timer, nullptr);
      for (;;) {
        EXPECT(launch_on(comm, all_reduce, 24) == 0 && launch_on(compute, gemm) == 0);
        EXPECT(cuEventRecord(done, comm) == 0 && cuStreamWaitEvent(compute, done, 0) == 0);
      }
    }
    int status = 0;
    bool ended = false;
    for (int tenths = 0; tenths < 1'000 && !ended; ++tenths) {
      ended = waitpid(child, &status, WNOHANG) == child;
      if (!ended) { usleep(10'000); }
    }
    if (!ended) { kill(child, SIGKILL); }
    EXPECT(ended && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

// What many programs do when they are told to end.
void exit_in_handler() {
  interrupt_children([](int) { std::exit(0); });
}

constexpr Case kCases[] = {CASE(exit_in_handler), CASE(two_threads), CASE(several_contexts),
                           CASE(launch_some),     CASE(forked),      CASE(forked_idle)};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
