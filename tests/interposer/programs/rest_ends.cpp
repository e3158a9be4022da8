#include "hook_cases.hpp"
#include "two_streams.hpp"

// auto: what the program does at rest, and what is known of it in the phase behind.

namespace {

void run_steps(const TwoStreams& two, cu::Function collective, int steps) {
  for (int step = 0; step < steps; ++step) {
    EXPECT(launch_on(two.comm, collective, 24) == 0 && launch_on(two.compute, two.gemm, 4096, 64) == 0);
    EXPECT(cuStreamSynchronize(two.comm) == 0 && cuStreamSynchronize(two.compute) == 0);
  }
}

// The first phase has ended with the program as it is.
void come_to_rest(const TwoStreams& two) {
  run_steps(two, two.all_reduce, 2'000);
  fake_reset();
  run_steps(two, two.all_reduce, 16);
  EXPECT(fake_call_count() == 64);
}

// Steps with another collective are compared anew. The gate is one of the arms.
bool gates_in_next_phase(const TwoStreams& two) {
  const cu::Function all_gather = fake_function("ncclDevKernel_AllGather_RING_LL", 96, 21568);
  for (int step = 0; step < 4'000; ++step) {
    fake_reset();
    run_steps(two, all_gather, 1);
    for (std::size_t i = 0; i < fake_call_count(); ++i) {
      if (is_call(i, "cuStreamWaitEvent")) { return true; }
    }
  }
  return false;
}

void compared_anew() {
  const TwoStreams two;
  come_to_rest(two);
  EXPECT(gates_in_next_phase(two));
}

// Another process may record the event. A wait for it at rest is not over when the rest is.
void foreign_wait() {
  const TwoStreams two;
  cu::Event event = nullptr;
  EXPECT(cuIpcOpenEventHandle(&event, {}) == 0);
  const cu::Stream waiting = make_stream();
  come_to_rest(two);
  EXPECT(cuStreamWaitEvent(waiting, event, 0) == 0);
  EXPECT(!gates_in_next_phase(two));
}

constexpr Case kCases[] = {{"compared_anew", compared_anew}, {"foreign_wait", foreign_wait}};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
