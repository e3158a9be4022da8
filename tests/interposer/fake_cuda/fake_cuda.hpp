#pragma once

#include <cstddef>

#include "interposer/cuda/driver_abi.hpp"

/// A stand-in for libcuda.so.1 that runs nothing: it keeps handles, writes down every call that orders or launches work, and fails
/// when told to. Tests read the log through the functions below, which it exports beside the driver's.
namespace cu = elbowroom::interposer::cuda::cu;

inline constexpr unsigned kFakeAttributes = 16;

/// One call as the driver got it. Fields that a call does not have are zero.
struct FakeCall {
  const char* name;  ///< the exported name that was called, e.g. "cuLaunchKernel_ptsz"
  cu::Context context;
  cu::Stream stream;
  cu::Event event;
  cu::Function function;
  cu::GraphExec exec;
  unsigned grid[3], block[3], shared;
  void** parameters;
  void** extra;
  unsigned long long flags;
  unsigned attribute_count;  ///< of which the first kFakeAttributes are kept
  cu::LaunchAttribute attributes[kFakeAttributes];
  int result;
};

#pragma GCC visibility push(default)
extern "C" {
// What programs call and nobody hooks.
int cuGraphExecDestroy(cu::GraphExec exec);
int cuCtxSynchronize();
int cuStreamCreate(cu::Stream* stream, unsigned flags);
int cuStreamCreateWithPriority(cu::Stream* stream, unsigned flags, int priority);
int cuStreamSynchronize(cu::Stream stream);
int cuStreamQuery(cu::Stream stream);
int cuEventSynchronize(cu::Event event);
int cuEventQuery(cu::Event event);

/// Forgets the log, pending failures and captures; handles stay valid.
void fake_reset();
std::size_t fake_call_count();
const FakeCall* fake_call(std::size_t index);
/// How often the exported function of that name was called; fake_reset does not forget it.
std::size_t fake_times_called(const char* name);
/// The same of all functions, as "cuLaunchKernel 1, cuStreamWaitEvent 2" in the order of their names; counted from
/// fake_forget_times on.
const char* fake_times();
void fake_forget_times();
/// Off: calls are not written down (benchmarks).
void fake_set_logging(int on);
/// Asked before each logged call takes effect: anything but 0 is returned to the caller instead. It may call the driver itself,
/// whose calls are asked about as well. Null: nothing fails.
void fake_set_failure(int (*decide)(const FakeCall* call));
/// Called before each call that is counted and not written down takes effect; null: nothing is.
void fake_set_told(void (*told)(const char* name));
/// Whether queries of events and streams say that everything has finished (1, the start) or nothing has (0).
void fake_set_finished(int finished);
/// 0: events that launches record pass when those end. 1 (the start): they pass before that.
void fake_set_begun(int begun);
/// The time on the device, in milliseconds: from now on events are recorded at it, and cuEventElapsedTime answers by them.
void fake_set_clock(double milliseconds);

/// What cuCtxGetStreamPriorityRange says; 0: that there is but one priority.
void fake_set_greatest_priority(int greatest);

cu::Function fake_function(const char* name, int registers, int static_shared);
/// The function is gone, and another one has its handle.
void fake_reuse_function(cu::Function function, const char* name);
/// A green context of the first device, with so many SMs.
cu::GreenContext fake_green_context(unsigned sms);
cu::Kernel fake_kernel(const char* name, int registers, int static_shared);
}
#pragma GCC visibility pop
