#include "driver_program.hpp"

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
  EXPECT(launch_on(comm, exchange, 4096) == 0 && fake_call_count() == 1 && is_call(0, "cuLaunchKernel"));
  EXPECT(launch_on(compute, gemm) == 0 && fake_call_count() == 3 && is_call(1, "cuStreamWaitEvent"));
}

constexpr Case kCases[] = {{"named", named}};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
