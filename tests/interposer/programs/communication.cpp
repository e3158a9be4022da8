#include <cstring>
#include <initializer_list>

#include "driver_program.hpp"
#include "two_streams.hpp"

// Kernels that a rule names as communication: they go as the program asked, nothing waits for them, and they open windows.

namespace {

void named() {
  use_device(0);
  const cu::Stream compute = make_stream();
  const cu::Stream comm = make_stream();
  const cu::Function gemm = fake_function("gemm", 64, 0);
  const cu::Function exchange = fake_function("_ZN4mine11my_exchangeEPv", 96, 21568);
  fake_reset();
  EXPECT(launch_on(comm, exchange, 24) == 0 && launch_on(compute, gemm) == 0);
  EXPECT(fake_call_count() == 2 && is_call(0, "cuLaunchKernel") && is_call(1, "cuLaunchKernel"));
  EXPECT(fake_call(0)->attribute_count == 0);
  // It does not wait for a collective that is known either.
  EXPECT(launch_on(make_stream(), fake_function(kAllReduce, 96, 21568), 24) == 0);
  fake_reset();
  EXPECT(launch_on(compute, gemm) == 0 && fake_call_count() == 2 && is_call(0, "cuStreamWaitEvent"));
  EXPECT(launch_on(comm, exchange, 4096) == 0 && fake_call_count() == 3 && is_call(2, "cuLaunchKernel"));
  // It may leave the next collective no room until other ranks have come.
  EXPECT(launch_on(make_stream(), fake_function(kAllReduce, 96, 21568), 24) == 0);
  fake_reset();
  EXPECT(launch_on(compute, gemm) == 0 && fake_call_count() == 1);
}

// A graph that holds one is like a collective: what its stream launches next queues behind another.
void graphed() {
  for (const char* name : {"gemm", "_ZN4mine11my_exchangeEPv", kAllReduce}) {
    const TwoStreams two;
    EXPECT(cuStreamBeginCapture_v2(two.comm, cu::kCaptureModeRelaxed) == 0);
    EXPECT(launch_on(two.comm, fake_function(name, 96, 0), 24) == 0);
    cu::Graph graph = nullptr;
    cu::GraphExec exec = nullptr;
    EXPECT(cuStreamEndCapture(two.comm, &graph) == 0 && cuGraphInstantiateWithFlags(&exec, graph, 0) == 0);
    EXPECT(cuGraphLaunch(exec, two.comm) == 0 && launch_on(two.comm, two.all_reduce, 24) == 0);
    fake_reset();
    const std::size_t calls = std::strcmp(name, "gemm") == 0 ? 2 : 1;
    EXPECT(launch_on(two.compute, two.gemm) == 0 && fake_call_count() == calls);
    EXPECT(cuCtxSynchronize() == 0);
  }
}

constexpr Case kCases[] = {{"named", named}, {"graphed", graphed}};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
