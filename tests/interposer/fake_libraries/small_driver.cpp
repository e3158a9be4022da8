#include "interposer/cuda/hooked_functions.hpp"

// As much of a driver as a launch needs. Each launch answers how many there were.

namespace {

int launches = 0;
int context = 0;

}  // namespace

int cuLaunchKernel(cu::Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, cu::Stream, void**, void**) {
  return ++launches;
}
int cuEventRecord(cu::Event, cu::Stream) { return 0; }
int cuLaunchKernelEx(const cu::LaunchConfig*, cu::Function, void**, void**) { return ++launches; }

#pragma GCC visibility push(default)
extern "C" {
int cuCtxGetCurrent(cu::Context* current) {
  *current = reinterpret_cast<cu::Context>(&context);
  return 0;
}
int small_launches() { return launches; }
// Whatever it is, it is a collective.
int cuFuncGetName(const char** name, cu::Function) {
  *name = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL";
  return 0;
}
}
#pragma GCC visibility pop
