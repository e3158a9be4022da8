#include <dlfcn.h>

#include "three_streams.hpp"

// A library or the program itself has functions of the driver's names and stands before the interposer. What it calls of the driver
// is followed, and each call reaches the driver once.

namespace {

int calls_in(void* library) { return reinterpret_cast<int (*)()>(dlsym(library, "front_calls"))(); }
int front_calls() { return calls_in(RTLD_DEFAULT); }

// Behind a collective whose peers are late, by a wait of the library's.
void event_wait() {
  const ThreeStreams three;
  const cu::Event done = make_event();
  EXPECT(three.product_waits());
  three.late_collective();
  const std::size_t waits = fake_times_called("cuStreamWaitEvent");
  const int calls = front_calls();
  EXPECT(cuEventRecord(done, three.late) == 0 && cuStreamWaitEvent(three.comm, done, 0) == 0);
  EXPECT(front_calls() == calls + 1 && fake_times_called("cuStreamWaitEvent") == waits + 1);
  EXPECT(!three.product_waits());
}

void host_function() {
  const ThreeStreams three;
  const cu::Stream waiting = make_stream();
  EXPECT(three.product_waits());
  EXPECT(cuLaunchHostFunc(waiting, nullptr, nullptr) == 0 && fake_times_called("cuLaunchHostFunc") == 1);
  EXPECT(!three.product_waits() && three.product_waits());
}

void freed_memory() {
  const ThreeStreams three;
  cu::DevicePointer memory = 0;
  three.late_collective();
  EXPECT(cuMemFreeAsync(8, three.late) == 0 && fake_times_called("cuMemFreeAsync") == 1);
  EXPECT(cuMemAllocAsync(&memory, 8, three.comm) == 0 && !three.product_waits());
}

void launches() {
  const ThreeStreams three;
  EXPECT(three.product_waits() && front_calls() == 2 && fake_times_called("cuLaunchKernel") == 1);
}

// The program asks the library, which asks the driver.
void asked() {
  const ThreeStreams three;
  const cu::Event done = make_event();
  void* found = nullptr;
  EXPECT(cuGetProcAddress_v2("cuStreamWaitEvent", &found, 12000, 0, nullptr) == 0);
  three.late_collective();
  EXPECT(cuEventRecord(done, three.late) == 0);
  EXPECT(reinterpret_cast<decltype(&cuStreamWaitEvent)>(found)(three.comm, done, 0) == 0 && !three.product_waits());
}

// A library that is loaded later and calls its own functions first: a table of the driver's, as runtimes have one.
void loaded_later() {
  const ThreeStreams three;
  const cu::Event done = make_event();
  void* library = dlopen(std::getenv("ELBOWROOM_OWN_FIRST"), RTLD_NOW);
  EXPECT(library != nullptr);
  const auto wait = reinterpret_cast<decltype(&cuStreamWaitEvent)>(dlsym(library, "cuStreamWaitEvent"));
  three.late_collective();
  EXPECT(cuEventRecord(done, three.late) == 0 && wait(three.comm, done, 0) == 0 && calls_in(library) == 1);
  EXPECT(fake_times_called("cuStreamWaitEvent") == 1 && !three.product_waits());
}

// Another library stands behind the interposer and has the function as well. What goes past that one is not followed.
void past_another() {
  const ThreeStreams three;
  const auto seen_behind = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "shim_launches"));
  EXPECT(launch_on(three.compute, three.gemm) == 0 && front_calls() == 1 && seen_behind() == 0 && fake_call_count() == 1);
  const cu::LaunchConfig config{24, 1, 1, 544, 1, 1, 0, three.comm, nullptr, 0};
  EXPECT(cuLaunchKernelEx(&config, three.all_reduce, nullptr, nullptr) == 0);
  const cu::LaunchConfig product{4096, 1, 1, 256, 1, 1, 0, three.compute, nullptr, 0};
  EXPECT(cuLaunchKernelEx(&product, three.gemm, nullptr, nullptr) == 0 && fake_times_called("cuStreamWaitEvent") == 0);
}

// Two stand behind the interposer. The second one asks the driver for what comes after itself, and nothing is missed by that.
void two_behind() {
  const ThreeStreams three;
  const auto seen_behind = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "shim_launches"));
  EXPECT(launch_on(three.compute, three.gemm) == 0 && seen_behind() == 1 && front_calls() == 1 && fake_call_count() == 1);
  const cu::LaunchConfig config{24, 1, 1, 544, 1, 1, 0, three.comm, nullptr, 0};
  EXPECT(cuLaunchKernelEx(&config, three.all_reduce, nullptr, nullptr) == 0);
  EXPECT(launch_on(three.compute, three.gemm) == 0 && front_calls() == 2 && fake_times_called("cuStreamWaitEvent") == 1);
}

constexpr Case kCases[] = {
    {"event_wait", event_wait}, {"host_function", host_function}, {"freed_memory", freed_memory}, {"launches", launches},
    {"asked", asked},           {"loaded_later", loaded_later},   {"past_another", past_another}, {"two_behind", two_behind}};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
