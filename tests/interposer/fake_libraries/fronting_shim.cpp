#include "drivers_own.hpp"
#include "interposer/cuda/hooked_functions.hpp"

// What counts a program's calls of the driver and stands before the interposer. It finds the driver's functions in the driver
// itself.

namespace {

int calls = 0;

}  // namespace

int cuStreamWaitEvent(cu::Stream stream, cu::Event event, unsigned flags) {
  ++calls;
  static const auto wait = drivers("cuStreamWaitEvent", &cuStreamWaitEvent);
  return wait(stream, event, flags);
}

int cuLaunchHostFunc(cu::Stream stream, void (*function)(void*), void* data) {
  ++calls;
  static const auto launch = drivers("cuLaunchHostFunc", &cuLaunchHostFunc);
  return launch(stream, function, data);
}

int cuMemFreeAsync(cu::DevicePointer memory, cu::Stream stream) {
  ++calls;
  static const auto free = drivers("cuMemFreeAsync", &cuMemFreeAsync);
  return free(memory, stream);
}

#pragma GCC visibility push(default)
extern "C" int front_calls() { return calls; }
#pragma GCC visibility pop
