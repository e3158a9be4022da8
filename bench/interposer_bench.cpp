#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "fake_cuda.hpp"

// What the interposer adds to a launch, over a driver that does nothing: the difference to `direct`. The process starts itself
// again with the library preloaded.

namespace {

using LaunchKernel = int (*)(cu::Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, cu::Stream, void**,
                             void**);
using Dlsym = void* (*)(void*, const char*);

struct Driver {
  void* handle = dlopen(ELBOWROOM_FAKE_CUDA, RTLD_NOW);
  // The C library's own dlsym is not interposed and finds the driver's own function.
  Dlsym loader = reinterpret_cast<Dlsym>(dlsym(dlopen("libc.so.6", RTLD_NOW), "dlsym"));
  LaunchKernel interposed = function<LaunchKernel>("cuLaunchKernel");
  LaunchKernel direct = reinterpret_cast<LaunchKernel>(loader(handle, "cuLaunchKernel"));
  cu::Stream compute = nullptr, comm = nullptr;
  cu::Function gemm = nullptr, all_reduce = nullptr;

  template <class Function>
  Function function(const char* name) const {
    return reinterpret_cast<Function>(dlsym(handle, name));
  }

  Driver() {
    cu::Context context = nullptr;
    function<int (*)(cu::Context*, unsigned, int)>("cuCtxCreate_v2")(&context, 0, 0);
    const auto create = function<int (*)(cu::Stream*, unsigned, int)>("cuStreamCreateWithPriority");
    create(&compute, cu::kStreamNonBlocking, 0);
    create(&comm, cu::kStreamNonBlocking, 0);
    const auto make = function<decltype(&fake_function)>("fake_function");
    gemm = make("gemm", 64, 0);
    all_reduce = make("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 96, 0);
    function<decltype(&fake_set_logging)>("fake_set_logging")(0);
  }

  int synchronise() const { return function<int (*)()>("cuCtxSynchronize")(); }
};

Driver& driver() {
  static Driver instance;
  return instance;
}

int launch(LaunchKernel entry, cu::Function function, cu::Stream stream) {
  return entry(function, 4096, 1, 1, 256, 1, 1, 0, stream, nullptr, nullptr);
}

void direct(benchmark::State& state) {
  const Driver& fake = driver();
  for (auto _ : state) { benchmark::DoNotOptimize(launch(fake.direct, fake.gemm, fake.compute)); }
}
BENCHMARK(direct);

void outside_windows(benchmark::State& state) {
  const Driver& fake = driver();
  fake.synchronise();
  for (auto _ : state) { benchmark::DoNotOptimize(launch(fake.interposed, fake.gemm, fake.compute)); }
}
BENCHMARK(outside_windows);

// Default streams are looked up by the context that is current.
void outside_windows_default_stream(benchmark::State& state) {
  const Driver& fake = driver();
  fake.synchronise();
  for (auto _ : state) { benchmark::DoNotOptimize(launch(fake.interposed, fake.gemm, nullptr)); }
}
BENCHMARK(outside_windows_default_stream);

// A collective of unknown duration that nothing orders: every compute launch is in its window.
void inside_a_window(benchmark::State& state) {
  const Driver& fake = driver();
  fake.synchronise();
  launch(fake.interposed, fake.all_reduce, fake.comm);
  for (auto _ : state) { benchmark::DoNotOptimize(launch(fake.interposed, fake.gemm, fake.compute)); }
}
BENCHMARK(inside_a_window);

// A collective and the compute launch that is gated on it, as a training step does once for each bucket.
void collective_and_gated_launch(benchmark::State& state) {
  const Driver& fake = driver();
  fake.synchronise();
  for (auto _ : state) {
    benchmark::DoNotOptimize(launch(fake.interposed, fake.all_reduce, fake.comm));
    benchmark::DoNotOptimize(launch(fake.interposed, fake.gemm, fake.compute));
  }
}
BENCHMARK(collective_and_gated_launch);

/// Tensor parallelism: each all-reduce waits for the kernel before it and the kernel behind it for the all-reduce, while a second
/// stream of compute waits for neither. The host has enqueued 5,000 collectives and 10,000 kernels of which none has ended.
class FarAhead {
 public:
  FarAhead() {
    fake.synchronise();
    fake.function<decltype(&fake_set_finished)>("fake_set_finished")(0);
    const auto create = fake.function<int (*)(cu::Event*, unsigned)>("cuEventCreate");
    for (cu::Event* event : {&computed, &reduced}) { create(event, cu::kEventDisableTiming); }
    fake.function<int (*)(cu::Stream*, unsigned, int)>("cuStreamCreateWithPriority")(&beside, cu::kStreamNonBlocking, 0);
    for (int i = 0; i < 5'000; ++i) {
      collective();
      launch(fake.interposed, fake.gemm, fake.compute);
    }
  }
  ~FarAhead() {
    fake.function<decltype(&fake_set_finished)>("fake_set_finished")(1);
    fake.synchronise();
  }
  FarAhead(const FarAhead&) = delete;
  FarAhead& operator=(const FarAhead&) = delete;

  void collective() const {
    launch(fake.interposed, fake.gemm, fake.compute);
    record(computed, fake.compute);
    wait(fake.comm, computed, 0);
    launch(fake.interposed, fake.all_reduce, fake.comm);
    record(reduced, fake.comm);
    wait(fake.compute, reduced, 0);
  }

  const Driver& fake = driver();
  int (*record)(cu::Event, cu::Stream) = fake.function<int (*)(cu::Event, cu::Stream)>("cuEventRecord");
  int (*wait)(cu::Stream, cu::Event, unsigned) = fake.function<int (*)(cu::Stream, cu::Event, unsigned)>("cuStreamWaitEvent");
  cu::Event computed = nullptr, reduced = nullptr;
  cu::Stream beside = nullptr;
};

// Ordered behind every collective.
void far_ahead_outside_windows(benchmark::State& state) {
  const FarAhead ahead;
  for (auto _ : state) { benchmark::DoNotOptimize(launch(ahead.fake.interposed, ahead.fake.gemm, ahead.fake.compute)); }
}
BENCHMARK(far_ahead_outside_windows);

// Beside every collective.
void far_ahead_inside_windows(benchmark::State& state) {
  const FarAhead ahead;
  for (auto _ : state) { benchmark::DoNotOptimize(launch(ahead.fake.interposed, ahead.fake.gemm, ahead.beside)); }
}
BENCHMARK(far_ahead_inside_windows);

// Two kernels, a collective, two records and two waits, and a kernel beside them that is gated.
void far_ahead_steps(benchmark::State& state) {
  const FarAhead ahead;
  for (auto _ : state) {
    ahead.collective();
    benchmark::DoNotOptimize(launch(ahead.fake.interposed, ahead.fake.gemm, ahead.beside));
  }
}
BENCHMARK(far_ahead_steps);

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("ELBOWROOM_INTERPOSER_BENCH") == nullptr) {
    setenv("ELBOWROOM_INTERPOSER_BENCH", "1", 1);
    setenv("ELBOWROOM_RUN_POLICY", "gate", 0);
    setenv("LD_PRELOAD", ELBOWROOM_INTERPOSER, 1);
    execv("/proc/self/exe", argv);
    std::perror("execv");
    return 1;
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
