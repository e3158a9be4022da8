#pragma once

#include "past_hooks.hpp"
#include "two_streams.hpp"

/// Programs with a case for each hook, named by it: what the hook tells shows in which products wait for a collective beside them.

struct Lanes : TwoStreams {
  Lanes() {
    settle();
    fake_reset();
  }
  /// Everything has ended.
  static void settle() { EXPECT(cuCtxSynchronize() == 0); }

  void collective(cu::Stream stream) const { EXPECT(launch_on(stream, all_reduce, 24) == 0); }
  void collective_of_thread() const {
    EXPECT(cuLaunchKernel_ptsz(all_reduce, 24, 1, 1, 544, 1, 1, 0, nullptr, nullptr, nullptr) == 0);
  }
  /// Whether a product on `stream` now waits for a collective.
  [[nodiscard]] bool product_waits(cu::Stream stream) const {
    const std::size_t before = fake_call_count();
    EXPECT(launch_on(stream, gemm) == 0);
    for (std::size_t i = before; i < fake_call_count(); ++i) {
      if (is_call(i, "cuStreamWaitEvent") && fake_call(i)->stream == stream) { return true; }
    }
    return false;
  }
  /// Whether it waits for a collective that is launched just before, on `stream` or the thread's own. Everything has ended then.
  [[nodiscard]] bool waits_for(cu::Stream stream) const {
    collective(stream);
    const bool waits = product_waits(compute);
    settle();
    return waits;
  }
  [[nodiscard]] bool waits_for_thread() const {
    collective_of_thread();
    const bool waits = product_waits(compute);
    settle();
    return waits;
  }
};

inline cu::Stream make_blocking_stream() {
  cu::Stream stream = nullptr;
  EXPECT(cuStreamCreateWithPriority(&stream, 0, 0) == 0);
  return stream;
}

inline const FakeCall& last_call_named(const char* name) {
  for (std::size_t i = fake_call_count(); i > 0; --i) {
    if (is_call(i - 1, name)) { return *fake_call(i - 1); }
  }
  std::fprintf(stderr, "%s did not reach the driver\n", name);
  std::exit(1);
}

template <std::size_t N>
int run_hook_cases(const Case (&cases)[N], int argc, char** argv) {
  return run_driver_cases_of(cases, "libcuda.so.1", &fake_times_called, argc, argv);
}
