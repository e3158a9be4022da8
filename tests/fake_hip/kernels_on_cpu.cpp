// The backend's kernels on the host: the very text that AMD's compiler gets, with HIP's names defined for one thread that takes
// turns with the others of its block. Waves have 64 threads and matrix cores, as on gfx90a.

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <utility>

#include "block_on_cpu.hpp"
#include "fake_hip.hpp"

namespace {

using Float4OnCpu = float __attribute__((vector_size(16)));
using Bf16x4OnCpu = short __attribute__((vector_size(8)));

float bf16_value(short bits) {
  const unsigned wide = static_cast<unsigned>(static_cast<unsigned short>(bits)) << 16;
  float value = 0;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

/// v_mfma_f32_16x16x16_bf16_1k of one wave: lane l gives A[l % 16][k] and B[k][l % 16] for k = l / 16 * 4 to + 3 and gets
/// D[l / 16 * 4 to + 3][l % 16]. Lanes are a step of the barrier apart, so two sets of operands suffice.
Float4OnCpu matrix_core(Bf16x4OnCpu a, Bf16x4OnCpu b, Float4OnCpu sum) {
  constexpr unsigned kThreads = 1024;
  static std::array<std::array<Bf16x4OnCpu, kThreads>, 2> left, right;
  static std::array<std::size_t, kThreads> calls;
  const unsigned thread = fake_hip::thread_index.x;
  const unsigned wave = thread / 64 * 64;
  const unsigned lane = thread % 64;
  const std::size_t set = calls[thread]++ % 2;
  left[set][thread] = a;
  right[set][thread] = b;
  fake_hip::barrier();
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned row = lane / 16 * 4 + i;
    for (unsigned k = 0; k < 16; ++k) {
      const float from_a = bf16_value(left[set][wave + k / 4 * 16 + row][k % 4]);
      const float from_b = bf16_value(right[set][wave + k / 4 * 16 + lane % 16][k % 4]);
      sum[i] += from_a * from_b;
    }
  }
  return sum;
}

long long ticks_of_100_mhz() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(10); }

void atomicAdd(unsigned long long* to, unsigned long long value) { *to += value; }
void atomicMin(unsigned long long* to, unsigned long long value) { *to = value < *to ? value : *to; }
void atomicMax(unsigned long long* to, unsigned long long value) { *to = value > *to ? value : *to; }

}  // namespace

#define __gfx90a__ 1
#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(...)
#define threadIdx fake_hip::thread_index
#define blockIdx fake_hip::block_index
#define gridDim fake_hip::grid_extent
#define __syncthreads fake_hip::barrier
#define wall_clock64 ticks_of_100_mhz
#define __hip_atomic_load(address, order, scope) __atomic_load_n(address, order)
#define __builtin_amdgcn_s_sleep(cycles) static_cast<void>(cycles)
#define __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a, b, c, x, y, z) matrix_core(a, b, c)

#include <elbowroom_kernels.hip>

namespace {

template <auto* Kernel>
struct OnCpu;

template <class... Arguments, void (*Kernel)(Arguments...)>
struct OnCpu<Kernel> {
  static constexpr std::array<std::size_t, sizeof...(Arguments)> kSizes{sizeof(Arguments)...};

  template <std::size_t... At>
  static void thread(void** arguments, std::index_sequence<At...>) {
    Kernel(*static_cast<Arguments*>(arguments[At])...);
  }

  static void run(const FakeLaunch& launch) {
    if (launch.arguments == nullptr) { return; }
    fake_hip::run_grid(
        launch.grid, launch.block,
        [](void* arguments) { thread(static_cast<void**>(arguments), std::index_sequence_for<Arguments...>{}); }, launch.arguments);
  }

  /// Registers and LDS as Debian's compiler reports them for gfx90a.
  OnCpu(const char* name, int registers, int static_shared) {
    FakeKernel kernel{};
    kernel.name = name;
    kernel.registers = registers;
    kernel.static_shared = static_shared;
    kernel.max_threads = 256;
    kernel.argument_count = kSizes.size();
    kernel.argument_sizes = kSizes.data();
    kernel.run = &run;
    fake_hip_register_kernel(&kernel);
  }
};

#define ELBOWROOM_ON_CPU(name, registers, static_shared) const OnCpu<&name> name##_on_cpu(#name, registers, static_shared);
#include "kernels_on_cpu.inc"

}  // namespace
