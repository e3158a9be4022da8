#pragma once

#include <unistd.h>

#include "fake_hip.hpp"
#include "interposer/hip/hooked_functions.hpp"
#include "program.hpp"

/// What a program linked to the runtime declares beyond the functions that are hooked.
extern "C" {
int hipSetDevice(int device);
int hipGetDevice(int* device);
int hipStreamCreateWithFlags(hip::Stream* stream, unsigned flags);
int hipStreamCreateWithPriority(hip::Stream* stream, unsigned flags, int priority);
int hipEventCreateWithFlags(hip::Event* event, unsigned flags);
int hipGetLastError();
int hipPeekAtLastError();
int hipDeviceSynchronize();
int hipStreamSynchronize(hip::Stream stream);
int hipStreamQuery(hip::Stream stream);
int hipEventSynchronize(hip::Event event);
int hipEventQuery(hip::Event event);
int hipGraphInstantiateWithFlags(hip::GraphExec* exec, hip::Graph graph, unsigned long long flags);
int hipGraphExecDestroy(hip::GraphExec exec);
int hipGraphCreate(hip::Graph* graph, unsigned flags);
}

inline constexpr const char* kAllReduce = "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)";
inline constexpr int kGreatest = -1;

inline hip::Stream make_stream() {
  hip::Stream stream = nullptr;
  EXPECT(hipStreamCreateWithFlags(&stream, hip::kStreamNonBlocking) == 0);
  return stream;
}

inline hip::Event make_event() {
  hip::Event event = nullptr;
  EXPECT(hipEventCreateWithFlags(&event, hip::kEventDisableTiming) == 0);
  return event;
}

/// A launch as <<<>>> makes it.
inline int launch_on(hip::Stream stream, const void* function, unsigned blocks = 4096, std::size_t shared = 0) {
  return hipLaunchKernel(function, {blocks, 1, 1}, {256, 1, 1}, nullptr, shared, stream);
}

/// Nothing ends before the program says so.
inline void hold_ends() {
  fake_hip_reset();
  fake_hip_set_finished(0);
}

/// Everything ends, and the interposer gets to see it: it asks for ends no more often than each 20 us.
inline void let_end(const void* kernel) {
  static const hip::Stream idle = make_stream();
  fake_hip_set_finished(1);
  usleep(40);
  EXPECT(launch_on(idle, kernel) == 0);
  fake_hip_set_finished(0);
}

inline const FakeHipCall& last_call() { return *fake_hip_call(fake_hip_call_count() - 1); }

inline bool is_call(std::size_t index, const char* name) {
  const FakeHipCall* call = fake_hip_call(index);
  return call != nullptr && std::strcmp(call->name, name) == 0;
}

inline std::size_t calls_named(const char* name) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < fake_hip_call_count(); ++i) { count += is_call(i, name) ? 1 : 0; }
  return count;
}

/// The log from `first` on holds a collective that a stream of ours carries: fork, launch, join. Returns the carrier.
inline hip::Stream expect_carried(std::size_t first, hip::Stream stream, const char* launch) {
  EXPECT(is_call(first, "hipEventRecord") && fake_hip_call(first)->stream == stream);
  EXPECT(is_call(first + 1, "hipStreamWaitEvent") && fake_hip_call(first + 1)->event == fake_hip_call(first)->event);
  const hip::Stream carrier = fake_hip_call(first + 1)->stream;
  EXPECT(carrier != stream && is_call(first + 2, launch) && fake_hip_call(first + 2)->stream == carrier);
  EXPECT(is_call(first + 3, "hipEventRecord") && fake_hip_call(first + 3)->stream == carrier);
  EXPECT(is_call(first + 4, "hipStreamWaitEvent") && fake_hip_call(first + 4)->stream == stream);
  EXPECT(fake_hip_call(first + 4)->event == fake_hip_call(first + 3)->event);
  EXPECT(fake_hip_call(first + 4)->event != fake_hip_call(first)->event);
  return carrier;
}
