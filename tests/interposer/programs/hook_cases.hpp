#pragma once

#include "past_hooks.hpp"
#include "two_streams.hpp"

/// Programs with a case for each hook, named by it: what the hook tells shows in which products wait for a collective beside them.

struct Lanes : TwoStreams {
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

inline const FakeCall& last_call_named(const char* name) {
  for (std::size_t i = fake_call_count(); i > 0; --i) {
    if (is_call(i - 1, name)) { return *fake_call(i - 1); }
  }
  std::fprintf(stderr, "%s did not reach the driver\n", name);
  std::exit(1);
}

/// Nothing waits for a collective beside what `call` puts on some stream, before that has ended. What the driver refuses is not
/// there.
template <class Call>
void counts_as_unknown(Call call) {
  const Lanes lanes;
  EXPECT(lanes.waits_for(lanes.comm) && call() == 0);
  lanes.collective(lanes.comm);
  EXPECT(!lanes.product_waits(lanes.compute));
  lanes.settle();
  EXPECT(lanes.waits_for(lanes.comm));
  fake_set_failure([](const FakeCall* each) { return each->function == nullptr && each->event == nullptr ? 700 : 0; });
  EXPECT(call() == 700);
  fake_set_failure(nullptr);
  EXPECT(lanes.waits_for(lanes.comm));
}

/// The process stands aside for good.
template <class Call>
void stands_aside(Call call) {
  const Lanes lanes;
  EXPECT(lanes.waits_for(lanes.comm) && call() == 0 && !lanes.waits_for(lanes.comm));
  lanes.collective(lanes.comm);
  EXPECT(fake_call(fake_call_count() - 1)->attribute_count == 0);
}

inline cu::Stream some_stream = nullptr;
inline cu::Event some_event = nullptr;
inline cu::IpcEventHandle some_handle{};
#define STANDS_ASIDE(hook, ...) HOOK(hook, stands_aside([] { return hook(__VA_ARGS__); }))

template <std::size_t N>
int run_hook_cases(const Case (&cases)[N], int argc, char** argv) {
  return run_driver_cases_of(cases, "libcuda.so.1", &fake_times_called, argc, argv);
}
