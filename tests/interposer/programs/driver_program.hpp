#pragma once

#include <unistd.h>

#include "fake_cuda.hpp"
#include "interposer/cuda/hooked_functions.hpp"
#include "program.hpp"

/// What a program linked to the driver declares beyond the functions that are hooked.
extern "C" {
int cuDevicePrimaryCtxRetain(cu::Context* context, int device);
int cuCtxCreate_v2(cu::Context* context, unsigned flags, int device);
int cuCtxSetCurrent(cu::Context context);
int cuEventCreate(cu::Event* event, unsigned flags);
int cuFuncGetAttribute(int* value, int attribute, cu::Function function);
int cuFuncSetAttribute(cu::Function function, int attribute, int value);
int cuGraphCreate(cu::Graph* graph, unsigned flags);
}

inline constexpr const char* kAllReduce = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL";
inline constexpr int kGreatestPriority = -5;

inline cu::Context use_device(int device) {
  cu::Context context = nullptr;
  EXPECT(cuDevicePrimaryCtxRetain(&context, device) == 0 && cuCtxSetCurrent(context) == 0);
  return context;
}

inline cu::Stream make_stream() {
  cu::Stream stream = nullptr;
  EXPECT(cuStreamCreateWithPriority(&stream, cu::kStreamNonBlocking, 0) == 0);
  return stream;
}

inline cu::Event make_event() {
  cu::Event event = nullptr;
  EXPECT(cuEventCreate(&event, cu::kEventDisableTiming) == 0);
  return event;
}

/// The interposer's handling of a launch as a program that is linked to the driver makes it.
inline int launch_on(cu::Stream stream, cu::Function function, unsigned blocks = 4096, unsigned shared = 0) {
  return cuLaunchKernel(function, blocks, 1, 1, 256, 1, 1, shared, stream, nullptr, nullptr);
}

inline const cu::LaunchAttribute* attribute_of(const FakeCall& call, cu::LaunchAttributeId id) {
  for (unsigned i = 0; i < call.attribute_count && i < kFakeAttributes; ++i) {
    if (call.attributes[i].id == id) { return &call.attributes[i]; }
  }
  return nullptr;
}

/// Everything ends. The interposer sees it at its next question: it asks for ends no more often than each 20 us.
inline void all_ends() {
  fake_set_finished(1);
  usleep(40);
}

/// The device tells of begins before ends. The interposer sees that of the first collective that a launch may wait for.
inline void see_begins() {
  fake_set_finished(0);
  const cu::Stream comm = make_stream(), compute = make_stream();
  const cu::Function all_reduce = fake_function(kAllReduce, 96, 21568), gemm = fake_function("gemm", 64, 0);
  EXPECT(launch_on(comm, all_reduce, 24) == 0 && launch_on(compute, gemm) == 0);
  all_ends();
  EXPECT(launch_on(make_stream(), gemm) == 0);
}

inline bool is_call(std::size_t index, const char* name) {
  const FakeCall* call = fake_call(index);
  return call != nullptr && std::strcmp(call->name, name) == 0;
}
