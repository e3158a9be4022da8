#include "echo.hpp"
#include "fake_hip.hpp"
#include "interposer/hip/hooked_functions.hpp"

void launch_echo(void* stream) {
  static const void* kernel = fake_hip_symbol("ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", 96, 4184);
  hipExtLaunchKernel(kernel, {24, 1, 1}, {256, 1, 1}, nullptr, 0, static_cast<hip::Stream>(stream), nullptr, nullptr, 0);
}
