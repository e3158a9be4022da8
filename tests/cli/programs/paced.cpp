#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>

#include "driver_program.hpp"

// Programs that take some time for their steps, so that energy can be told by the step (tests/cli/run_energy.sh).

namespace {

using std::chrono::milliseconds;

/// A step of sixteen collectives of two sizes in turn takes ten milliseconds.
void run_steps(int device, int steps) {
  const cu::Context context = use_device(device);
  EXPECT(context != nullptr);
  const cu::Stream compute = make_stream();
  const cu::Stream comm = make_stream();
  const cu::Function gemm = fake_function("gemm", 64, 0);
  const cu::Function all_reduce = fake_function(kAllReduce, 96, 21568);
  for (int step = 0; step < steps; ++step) {
    for (unsigned i = 0; i < 16; ++i) {
      EXPECT(launch_on(comm, all_reduce, i == 0 ? 16 : 24) == 0);
      EXPECT(launch_on(compute, gemm, 4096) == 0);
    }
    std::this_thread::sleep_for(milliseconds(10));
  }
}

// Some programs load for a while before they use a GPU.
void late() {
  std::this_thread::sleep_for(milliseconds(1200));
  run_steps(0, 110);
}

void at_once() { run_steps(0, 110); }

void brief() { run_steps(0, 12); }

// A rank for each device.
void pair() {
  std::array<pid_t, 2> ranks{};
  for (int device = 0; device < 2; ++device) {
    const pid_t rank = fork();
    EXPECT(rank >= 0);
    if (rank == 0) {
      run_steps(device, 110);
      std::exit(0);
    }
    ranks[static_cast<std::size_t>(device)] = rank;
  }
  for (const pid_t rank : ranks) {
    int status = 1;
    EXPECT(waitpid(rank, &status, 0) == rank && status == 0);
  }
}

void without_collectives() {
  use_device(0);
  const cu::Function gemm = fake_function("gemm", 64, 0);
  EXPECT(launch_on(make_stream(), gemm, 4096) == 0);
}

constexpr Case kCases[] = {
    {"late", late}, {"at_once", at_once}, {"brief", brief}, {"pair", pair}, {"without_collectives", without_collectives}};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
