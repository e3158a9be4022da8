#include <thread>

#include "device_copies.hpp"
#include "interposer/core/core.hpp"

// Hooks of whole contexts: what they wait for and record, and what ends them or their functions.

namespace {

using elbowroom::interposer::kEventSlots;

// A context may wait as it likes, but not for what another process records.
template <class Wait>
void context_waits(Wait wait) {
  const Lanes lanes;
  EXPECT(wait(make_event()) == 0 && lanes.waits_for(lanes.comm));
  cu::Event foreign = nullptr;
  EXPECT(cuIpcOpenEventHandle(&foreign, {}) == 0 && wait(foreign) == 0);
  // No stream need have anything enqueued behind it.
  EXPECT(cuStreamSynchronize(nullptr) == 0 && cuStreamSynchronize(lanes.comm) == 0 && !lanes.waits_for(lanes.comm));
  EXPECT(lanes.waits_for(lanes.comm));
}

// Which streams are behind a collective from then on, and which collectives, is not followed. So nothing is gated any more.
void context_waits_for_collective() {
  const Lanes lanes;
  const cu::Event behind = make_event();
  EXPECT(lanes.waits_for(lanes.comm));
  lanes.collective(lanes.comm);
  EXPECT(cuEventRecord(behind, lanes.comm) == 0 && cuCtxWaitEvent(nullptr, behind) == 0);
  Lanes::settle();
  EXPECT(!lanes.waits_for(lanes.comm));
}

// An event of all that a context holds says nothing of what it was recorded behind before, and neither do those that waited for it.
template <class Record>
void context_records(Record record) {
  const Lanes lanes;
  const cu::Event done = make_event();
  const auto host_action = [&] {
    EXPECT(lanes.waits_for(lanes.comm));
    EXPECT(cuLaunchHostFunc(lanes.comm, nullptr, nullptr) == 0 && cuEventRecord(done, lanes.comm) == 0);
  };
  host_action();
  EXPECT(cuEventSynchronize(done) == 0 && lanes.waits_for(lanes.comm));
  host_action();
  EXPECT(record(done) == 0 && cuEventSynchronize(done) == 0 && !lanes.waits_for(lanes.comm));
  host_action();
  EXPECT(record(done) == 0 && cuStreamWaitEvent(lanes.compute, done, 0) == 0);
  EXPECT(cuStreamSynchronize(lanes.compute) == 0 && !lanes.waits_for(lanes.comm));
}

// A collective is behind another one by such an event, and the other one's peers may be late.
template <class Record>
void context_orders(Record record) {
  const Lanes lanes;
  const cu::Event done = make_event();
  const cu::Stream behind = make_stream();
  for (const bool waits : {false, true}) {
    lanes.collective(lanes.comm);
    EXPECT(lanes.product_waits(lanes.compute) && record(done) == 0);
    if (waits) { EXPECT(cuStreamWaitEvent(behind, done, 0) == 0); }
    lanes.collective(behind);
    EXPECT(lanes.product_waits(lanes.compute) == !waits);
    Lanes::settle();
  }
}

template <class Record>
void context_records_and_orders(Record record) {
  context_records(record);
  context_orders(record);
}

cu::Event completion_event_of(const Lanes& lanes, cu::Stream stream) {
  fake_reset();
  lanes.collective(stream);
  const cu::LaunchAttribute* completion = attribute_of(*fake_call(0), cu::kLaunchCompletionEvent);
  EXPECT(completion != nullptr);
  return completion->value.launch_completion_event.event;
}

// The events of a context go with it: none is used again, in any of the slots that collectives take in turn.
template <class End>
void context_ends(End end) {
  const Lanes lanes;
  const cu::Stream comm = lanes.comm;
  cu::Event before[kEventSlots];
  for (cu::Event& event : before) { event = completion_event_of(lanes, comm); }
  EXPECT(completion_event_of(lanes, comm) == before[0]);  // all slots were seen
  EXPECT(end(lanes.context) == 0 && use_device(0) != nullptr);
  for (std::size_t slot = 0; slot < kEventSlots; ++slot) {
    const cu::Event after = completion_event_of(lanes, make_stream());
    for (const cu::Event event : before) { EXPECT(after != event); }
  }
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
    Lanes::settle();
    EXPECT(!lanes.waits_for(lanes.comm));
  }
}

template <class Unload>
void functions_go(Unload unload) {
  unloaded(unload);
  fake_reset();
  unloaded_beside_a_thread(unload);
}

// A part of a device has its own SMs: a collective of 24 blocks does not begin at once on 16 of them, where the others wait for
// those 24.
void green_context_ends() {
  const Lanes lanes;
  EXPECT(lanes.waits_for(lanes.comm));
  const cu::GreenContext small = fake_green_context(16);
  const cu::GreenContext large = fake_green_context(24);
  for (const cu::GreenContext green : {small, large}) {
    cu::Stream comm = nullptr;
    cu::Stream compute = nullptr;
    EXPECT(cuGreenCtxStreamCreate(&comm, green, cu::kStreamNonBlocking, 0) == 0);
    EXPECT(cuGreenCtxStreamCreate(&compute, green, cu::kStreamNonBlocking, 0) == 0);
    lanes.collective(comm);
    EXPECT(lanes.product_waits(compute) == (green == large));
    EXPECT(cuStreamSynchronize(comm) == 0);
  }
  context_ends([](cu::Context) {
    EXPECT(cuDevicePrimaryCtxRelease_v2(0) == 0);  // the lanes above, whose reference the green context has not
    return cuGreenCtxDestroy(fake_green_context(8));
  });
}

// Whichever context is current: to wait for that one says nothing of a green context that waits for another process.
void green_context_waits() {
  context_waits([](cu::Event event) { return cuGreenCtxWaitEvent(nullptr, event); });
  const Lanes lanes;
  cu::Event event = nullptr;
  EXPECT(cuIpcOpenEventHandle(&event, {}) == 0 && lanes.waits_for(lanes.comm));
  use_device(1);
  EXPECT(cuGreenCtxWaitEvent(fake_green_context(66), event) == 0 && cuCtxSynchronize() == 0);
  EXPECT(cuCtxSetCurrent(lanes.context) == 0 && !lanes.waits_for(lanes.comm));
}

void whole_context_waits() {
  context_waits([](cu::Event event) { return cuCtxWaitEvent(nullptr, event); });
  context_waits_for_collective();
}

// All that two devices hold comes before such a copy, and all that follows on them behind it.
template <class Copy>
void devices_wait(Copy copy) {
  const Lanes lanes;
  EXPECT(cuLaunchHostFunc(lanes.comm, [](void* /*data*/) {}, nullptr) == 0);
  Lanes::settle();
  EXPECT(copy() == 0 && lanes.waits_for(lanes.comm));
  lanes.collective(lanes.comm);
  EXPECT(copy() == 0);
  Lanes::settle();
  EXPECT(!lanes.waits_for(lanes.comm));
}

// Also within a device such a copy stands between the launches of blocking streams.
template <class Copy>
void copies_without_stream(Copy copy) {
  const Lanes lanes;
  const cu::Stream comm = make_blocking_stream();
  const cu::Stream compute = make_blocking_stream();
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}}) {
    lanes.collective(comm);
    EXPECT(copy(kHere, bytes) == 0 && lanes.product_waits(compute) == (bytes == 0));
    Lanes::settle();
  }
  copies_between_devices(
      [&](cu::DevicePointer from, std::size_t bytes, cu::Stream stream) { return stream == nullptr ? copy(from, bytes) : 0; });
}

template <class Copy>
void copies_between_contexts(Copy copy) {
  cu::Context here = nullptr, there = nullptr;
  EXPECT(cuCtxCreate_v2(&there, 0, 1) == 0 && cuCtxCreate_v2(&here, 0, 0) == 0);
  copies_between_devices([=](cu::DevicePointer from, std::size_t bytes, cu::Stream stream) {
    return copy(kHere, here, from, from == kThere ? there : here, bytes, stream);
  });
}

void copies_between_contexts_without_stream(decltype(&cuMemcpyPeer) copy) {
  copies_between_contexts([=](cu::DevicePointer to, cu::Context here, cu::DevicePointer from, cu::Context there, std::size_t bytes,
                              cu::Stream stream) { return stream == nullptr ? copy(to, here, from, there, bytes) : 0; });
}

// Which devices it is of is not looked at.
void copies_boxes() {
  const Lanes lanes;
  lanes.collective(lanes.comm);
  EXPECT(cuMemcpy3DPeerAsync(nullptr, lanes.comm) == 0);
  Lanes::settle();
  EXPECT(lanes.waits_for(lanes.comm));
  lanes.collective(lanes.comm);
  EXPECT(cuMemcpy3DPeerAsync(nullptr, nullptr) == 0);
  Lanes::settle();
  EXPECT(!lanes.waits_for(lanes.comm));
}

// What was launched so is not followed.
void several_devices_at_once() {
  const Lanes lanes;
  EXPECT(lanes.waits_for(lanes.comm));
  EXPECT(cuLaunchCooperativeKernelMultiDevice(nullptr, 0, 0) == 0 && !lanes.waits_for(lanes.comm));
}

// A stream waits for who draws.
void event_of_drawing() {
  const Lanes lanes;
  cu::Event drawn = nullptr;
  EXPECT(cuEventCreateFromEGLSync(&drawn, nullptr, 0) == 0 && lanes.waits_for(lanes.comm));
  EXPECT(cuStreamWaitEvent(lanes.comm, drawn, 0) == 0 && !lanes.waits_for(lanes.comm));
}

constexpr Case kCases[] = {
    {"cuMemcpyPeer", [] { copies_between_contexts_without_stream(&cuMemcpyPeer); }},
    {"cuMemcpyPeer_ptds", [] { copies_between_contexts_without_stream(&cuMemcpyPeer_ptds); }},
    {"cuMemcpy3DPeer", [] { devices_wait([] { return cuMemcpy3DPeer(nullptr); }); }},
    {"cuMemcpy3DPeer_ptds", [] { devices_wait([] { return cuMemcpy3DPeer_ptds(nullptr); }); }},
    {"cuMemcpyPeerAsync", [] { copies_between_contexts(&cuMemcpyPeerAsync); }},
    {"cuMemcpy3DPeerAsync", copies_boxes},
    {"cuMemcpy",
     [] { copies_without_stream([](cu::DevicePointer from, std::size_t bytes) { return cuMemcpy(kHere, from, bytes); }); }},
    {"cuMemcpyDtoD_v2",
     [] { copies_without_stream([](cu::DevicePointer from, std::size_t bytes) { return cuMemcpyDtoD_v2(kHere, from, bytes); }); }},
    {"cuLaunchCooperativeKernelMultiDevice", several_devices_at_once},
    {"cuEventCreateFromEGLSync", event_of_drawing},
    {"cuCtxRecordEvent", [] { context_records_and_orders([](cu::Event event) { return cuCtxRecordEvent(nullptr, event); }); }},
    {"cuGreenCtxRecordEvent",
     [] { context_records_and_orders([](cu::Event event) { return cuGreenCtxRecordEvent(nullptr, event); }); }},
    {"cuCtxDetach", [] { context_ends(&cuCtxDetach); }},
    {"cuGreenCtxDestroy", green_context_ends},
    {"cuCtxWaitEvent", whole_context_waits},
    {"cuGreenCtxWaitEvent", green_context_waits},
    {"cuCtxDestroy", [] { context_ends(&cuCtxDestroy); }},
    {"cuCtxDestroy_v2", [] { context_ends(&cuCtxDestroy_v2); }},
    {"cuDevicePrimaryCtxReset", [] { context_ends([](cu::Context) { return cuDevicePrimaryCtxReset(0); }); }},
    {"cuDevicePrimaryCtxReset_v2", [] { context_ends([](cu::Context) { return cuDevicePrimaryCtxReset_v2(0); }); }},
    {"cuDevicePrimaryCtxRelease", [] { context_ends([](cu::Context) { return cuDevicePrimaryCtxRelease(0); }); }},
    {"cuDevicePrimaryCtxRelease_v2", [] { context_ends([](cu::Context) { return cuDevicePrimaryCtxRelease_v2(0); }); }},
    {"cuModuleUnload", [] { functions_go([] { return cuModuleUnload(nullptr); }); }},
    {"cuLibraryUnload", [] { functions_go([] { return cuLibraryUnload(nullptr); }); }},
};

}  // namespace

int main(int argc, char** argv) { return run_hook_cases(kCases, argc, argv); }
