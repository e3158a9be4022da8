#include "echo.hpp"
#include "fake_cuda.hpp"
#include "interposer/cuda/hooked_functions.hpp"

void launch_echo(void* stream) {
  static const cu::Function kernel = fake_function("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 96, 0);
  cuLaunchKernel(kernel, 24, 1, 1, 544, 1, 1, 0, static_cast<cu::Stream>(stream), nullptr, nullptr);
}
