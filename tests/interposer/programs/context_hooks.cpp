#include <thread>

#include "hook_cases.hpp"

// Hooks of whole contexts: what they wait for and record, and what ends them or their functions.

namespace {

// The events of a context go with it.
template <class End>
void context_ends(End end) {
  const Lanes lanes;
  EXPECT(lanes.waits_for(lanes.comm) && end(lanes.context) == 0 && !lanes.waits_for(lanes.comm));
}

// A function of a module that is gone may have left its handle to another one.
template <class Unload>
void unloaded(Unload unload) {
  const Lanes lanes;
  EXPECT(lanes.waits_for(lanes.comm));
  EXPECT(unload() == 0);
  fake_reuse_function(lanes.all_reduce, "gelu");
  EXPECT(!lanes.waits_for(lanes.comm));
  fake_reset();
  lanes.collective(lanes.comm);
  EXPECT(fake_call(0)->attribute_count == 0);
}

const Lanes& shared_lanes() {
  static const Lanes lanes;
  return lanes;
}

/// While the driver unloads: another thread launches the function before or after its handle is another's.
template <bool kReusedBefore>
int launch_meanwhile(const FakeCall*) {
  const Lanes& lanes = shared_lanes();
  fake_set_logging(0);
  if (kReusedBefore) { fake_reuse_function(lanes.all_reduce, "gelu"); }
  std::thread([&] { lanes.collective(lanes.comm); }).join();
  fake_reuse_function(lanes.all_reduce, "gelu");
  fake_set_logging(1);
  return 0;
}

// A handle is free before the call returns, so that another thread may get it at once. Until then another may launch what had it.
template <class Unload>
void unloaded_beside_a_thread(Unload unload) {
  const Lanes& lanes = shared_lanes();
  for (int (*beside)(const FakeCall*) : {&launch_meanwhile<true>, &launch_meanwhile<false>}) {
    fake_reuse_function(lanes.all_reduce, kAllReduce);
    EXPECT(cuModuleUnload(nullptr) == 0 && lanes.waits_for(lanes.comm));
    fake_set_failure(beside);
    EXPECT(unload() == 0);
    fake_set_failure(nullptr);
    const bool was_all_reduce = beside == &launch_meanwhile<false>;
    EXPECT(lanes.product_waits(lanes.compute) == was_all_reduce);
    lanes.settle();
    EXPECT(!lanes.waits_for(lanes.comm));
  }
}

template <class Unload>
void functions_go(Unload unload) {
  unloaded(unload);
  fake_reset();
  unloaded_beside_a_thread(unload);
}

constexpr Case kCases[] = {
    STANDS_ASIDE(cuLaunchCooperativeKernelMultiDevice, nullptr, 0, 0),
    STANDS_ASIDE(cuEventCreateFromEGLSync, &some_event, nullptr, 0),
    STANDS_ASIDE(cuCtxRecordEvent, nullptr, make_event()),
    STANDS_ASIDE(cuCtxWaitEvent, nullptr, make_event()),
    STANDS_ASIDE(cuGreenCtxRecordEvent, fake_green_context(66), make_event()),
    STANDS_ASIDE(cuGreenCtxWaitEvent, fake_green_context(66), make_event()),
    HOOK(cuCtxDestroy, context_ends(&cuCtxDestroy)),
    HOOK(cuCtxDestroy_v2, context_ends(&cuCtxDestroy_v2)),
    HOOK(cuDevicePrimaryCtxReset, context_ends([](cu::Context) { return cuDevicePrimaryCtxReset(0); })),
    HOOK(cuDevicePrimaryCtxReset_v2, context_ends([](cu::Context) { return cuDevicePrimaryCtxReset_v2(0); })),
    HOOK(cuDevicePrimaryCtxRelease, context_ends([](cu::Context) { return cuDevicePrimaryCtxRelease(0); })),
    HOOK(cuDevicePrimaryCtxRelease_v2, context_ends([](cu::Context) { return cuDevicePrimaryCtxRelease_v2(0); })),
    HOOK(cuModuleUnload, functions_go([] { return cuModuleUnload(nullptr); })),
    HOOK(cuLibraryUnload, functions_go([] { return cuLibraryUnload(nullptr); })),
};

}  // namespace

int main(int argc, char** argv) { return run_hook_cases(kCases, argc, argv); }
