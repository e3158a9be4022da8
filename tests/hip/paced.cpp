#include <chrono>
#include <thread>

#include "hip_program.hpp"

// A program that takes some time for its steps, so that energy can be told by the step (tests/hip/energy.sh).

namespace {

/// A step of sixteen collectives of two sizes takes ten milliseconds.
void at_once() {
  const hip::Stream compute = make_stream();
  const hip::Stream comm = make_stream();
  const void* gemm = fake_hip_symbol("gemm", 64, 0);
  const void* all_reduce = fake_hip_symbol(kAllReduce, 96, 0);
  for (int step = 0; step < 110; ++step) {
    for (unsigned i = 0; i < 16; ++i) {
      EXPECT(launch_on(comm, all_reduce, i == 0 ? 16 : 24) == 0);
      EXPECT(launch_on(compute, gemm) == 0);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

constexpr Case kCases[] = {{"at_once", at_once}};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
