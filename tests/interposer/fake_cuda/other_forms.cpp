#include "interposer/cuda/hooked_functions.hpp"
#include "objects.hpp"

// The forms of entry points that programs call rarely, older ones and those for per-thread default streams: declared as the
// interposer declares them, so that a mistake does not compile. Each is written down under its own name, with its numbers in
// `flags`, and does what its form in the other files does.

extern "C" int cuEventCreate(cu::Event* event, unsigned flags);

namespace {

template <class... Numbers>
int on_stream(const char* name, cu::Stream stream, Numbers... numbers) {
  FakeCall call = fake::named(name);
  call.stream = stream;
  unsigned long long digits = 0;
  ((digits = digits * 1000 + static_cast<unsigned long long>(numbers)), ...);
  call.flags = digits;
  return fake::enter(call);
}

int enter(const char* name) { return fake::enter(fake::named(name)); }

}  // namespace

#define FAKE_CALLBACK(name) \
  int name(cu::Stream stream, void (*)(cu::Stream, int, void*), void*, unsigned flags) { return on_stream(#name, stream, flags); }
FAKE_CALLBACK(cuStreamAddCallback)
FAKE_CALLBACK(cuStreamAddCallback_ptsz)

#define FAKE_WAIT_VALUE(name, Value)                                                    \
  int name(cu::Stream stream, cu::DevicePointer address, Value value, unsigned flags) { \
    return on_stream(#name, stream, address, value, flags);                             \
  }
FAKE_WAIT_VALUE(cuStreamWaitValue32, std::uint32_t)
FAKE_WAIT_VALUE(cuStreamWaitValue32_ptsz, std::uint32_t)
FAKE_WAIT_VALUE(cuStreamWaitValue32_v2, std::uint32_t)
FAKE_WAIT_VALUE(cuStreamWaitValue32_v2_ptsz, std::uint32_t)
FAKE_WAIT_VALUE(cuStreamWaitValue64, std::uint64_t)
FAKE_WAIT_VALUE(cuStreamWaitValue64_ptsz, std::uint64_t)
FAKE_WAIT_VALUE(cuStreamWaitValue64_v2, std::uint64_t)
FAKE_WAIT_VALUE(cuStreamWaitValue64_v2_ptsz, std::uint64_t)

#define FAKE_BATCH(name)                                                          \
  int name(cu::Stream stream, unsigned count, void* operations, unsigned flags) { \
    return on_stream(#name, stream, count, operations != nullptr, flags);         \
  }
FAKE_BATCH(cuStreamBatchMemOp)
FAKE_BATCH(cuStreamBatchMemOp_ptsz)
FAKE_BATCH(cuStreamBatchMemOp_v2)
FAKE_BATCH(cuStreamBatchMemOp_v2_ptsz)

#define FAKE_SEMAPHORES(name)                                                                   \
  int name(const void* semaphores, const void* parameters, unsigned count, cu::Stream stream) { \
    return on_stream(#name, stream, semaphores != nullptr, parameters != nullptr, count);       \
  }
FAKE_SEMAPHORES(cuWaitExternalSemaphoresAsync)
FAKE_SEMAPHORES(cuWaitExternalSemaphoresAsync_ptsz)

int cuLaunchCooperativeKernelMultiDevice(void*, unsigned, unsigned) { return enter("cuLaunchCooperativeKernelMultiDevice"); }
int cuEventCreateFromEGLSync(cu::Event* event, void*, unsigned flags) {
  const int injected = enter("cuEventCreateFromEGLSync");
  return injected != 0 ? injected : cuEventCreate(event, flags);
}

int cuCtxDestroy(cu::Context context) {
  const int injected = enter("cuCtxDestroy");
  return injected != 0 ? injected : cuCtxDestroy_v2(context);
}
int cuDevicePrimaryCtxReset(cu::Device) { return enter("cuDevicePrimaryCtxReset"); }
int cuDevicePrimaryCtxReset_v2(cu::Device) { return enter("cuDevicePrimaryCtxReset_v2"); }
int cuDevicePrimaryCtxRelease(cu::Device device) {
  const int injected = enter("cuDevicePrimaryCtxRelease");
  return injected != 0 ? injected : cuDevicePrimaryCtxRelease_v2(device);
}
int cuLibraryUnload(cu::Library) { return enter("cuLibraryUnload"); }

int cuStreamDestroy(cu::Stream stream) {
  const int injected = on_stream("cuStreamDestroy", stream);
  return injected != 0 ? injected : cuStreamDestroy_v2(stream);
}
int cuEventDestroy(cu::Event event) {
  const int injected = enter("cuEventDestroy");
  return injected != 0 ? injected : cuEventDestroy_v2(event);
}
int cuGreenCtxStreamCreate(cu::Stream* stream, cu::GreenContext green, unsigned flags, int priority) {
  const int injected = enter("cuGreenCtxStreamCreate");
  if (injected != 0) { return injected; }
  const int result = cuStreamCreateWithPriority(stream, flags, priority);
  if (result == 0 && green != nullptr) { fake::object<fake::Stream>(*stream)->context = reinterpret_cast<fake::Context*>(green); }
  return result;
}
int cuEventRecordWithFlags_ptsz(cu::Event event, cu::Stream stream, unsigned flags) {
  const int injected = on_stream("cuEventRecordWithFlags_ptsz", stream, flags);
  return injected != 0 ? injected : cuEventRecordWithFlags(event, stream, flags);
}

int cuStreamBeginCapture(cu::Stream stream) {
  const int injected = on_stream("cuStreamBeginCapture", stream);
  return injected != 0 ? injected : cuStreamBeginCapture_v2(stream, cu::kCaptureModeGlobal);
}
int cuStreamBeginCapture_ptsz(cu::Stream stream) {
  const int injected = on_stream("cuStreamBeginCapture_ptsz", stream);
  return injected != 0 ? injected : cuStreamBeginCapture_v2(stream, cu::kCaptureModeGlobal);
}
int cuStreamBeginCaptureToGraph(cu::Stream stream, cu::Graph, const cu::GraphNode*, const cu::GraphEdgeData*, std::size_t,
                                int mode) {
  const int injected = on_stream("cuStreamBeginCaptureToGraph", stream);
  return injected != 0 ? injected : cuStreamBeginCapture_v2(stream, mode);
}
int cuStreamBeginCaptureToGraph_ptsz(cu::Stream stream, cu::Graph, const cu::GraphNode*, const cu::GraphEdgeData*, std::size_t,
                                     int mode) {
  const int injected = on_stream("cuStreamBeginCaptureToGraph_ptsz", stream);
  return injected != 0 ? injected : cuStreamBeginCapture_v2(stream, mode);
}
int cuStreamBeginRecaptureToGraph(cu::Stream stream, int mode, cu::Graph, void*, void*) {
  const int injected = on_stream("cuStreamBeginRecaptureToGraph", stream);
  return injected != 0 ? injected : cuStreamBeginCapture_v2(stream, mode);
}
int cuStreamBeginRecaptureToGraph_ptsz(cu::Stream stream, int mode, cu::Graph, void*, void*) {
  const int injected = on_stream("cuStreamBeginRecaptureToGraph_ptsz", stream);
  return injected != 0 ? injected : cuStreamBeginCapture_v2(stream, mode);
}
int cuStreamBeginCaptureToCig(cu::Stream stream, void*) {
  const int injected = on_stream("cuStreamBeginCaptureToCig", stream);
  return injected != 0 ? injected : cuStreamBeginCapture_v2(stream, cu::kCaptureModeGlobal);
}
int cuStreamBeginCaptureToCig_ptsz(cu::Stream stream, void*) {
  const int injected = on_stream("cuStreamBeginCaptureToCig_ptsz", stream);
  return injected != 0 ? injected : cuStreamBeginCapture_v2(stream, cu::kCaptureModeGlobal);
}
int cuStreamEndCaptureToCig(cu::Stream stream) {
  cu::Graph graph = nullptr;
  const int injected = on_stream("cuStreamEndCaptureToCig", stream);
  return injected != 0 ? injected : cuStreamEndCapture(stream, &graph);
}
int cuStreamEndCaptureToCig_ptsz(cu::Stream stream) {
  cu::Graph graph = nullptr;
  const int injected = on_stream("cuStreamEndCaptureToCig_ptsz", stream);
  return injected != 0 ? injected : cuStreamEndCapture(stream, &graph);
}
int cuIpcGetEventHandle(cu::IpcEventHandle*, cu::Event) { return enter("cuIpcGetEventHandle"); }
int cuCtxRecordEvent(cu::Context, cu::Event) { return enter("cuCtxRecordEvent"); }
int cuCtxWaitEvent(cu::Context, cu::Event) { return enter("cuCtxWaitEvent"); }
int cuGreenCtxRecordEvent(cu::GreenContext, cu::Event) { return enter("cuGreenCtxRecordEvent"); }
int cuGreenCtxWaitEvent(cu::GreenContext, cu::Event) { return enter("cuGreenCtxWaitEvent"); }
int cuStreamEndCapture_ptsz(cu::Stream stream, cu::Graph* graph) {
  const int injected = on_stream("cuStreamEndCapture_ptsz", stream);
  return injected != 0 ? injected : cuStreamEndCapture(stream, graph);
}

int cuGraphInstantiateWithParams_ptsz(cu::GraphExec* exec, cu::Graph graph, cu::GraphInstantiateParams* parameters) {
  const int injected = enter("cuGraphInstantiateWithParams_ptsz");
  return injected != 0 ? injected : cuGraphInstantiateWithFlags(exec, graph, parameters->flags);
}
int cuGraphLaunch_ptsz(cu::GraphExec, cu::Stream stream) { return on_stream("cuGraphLaunch_ptsz", stream); }

int cuLaunchHostFunc_v2(cu::Stream stream, void (*)(void*), void*, unsigned mode) {
  return on_stream("cuLaunchHostFunc_v2", stream, mode);
}
int cuLaunchHostFunc_v2_ptsz(cu::Stream stream, void (*)(void*), void*, unsigned mode) {
  return on_stream("cuLaunchHostFunc_v2_ptsz", stream, mode);
}

// Functions that are found by names of others alone: a later form, and one that is not where it is exported.
#pragma GCC visibility push(default)
extern "C" {
int fake_newer_wait(cu::Stream stream, cu::DevicePointer, std::uint64_t, unsigned, unsigned added) {
  return on_stream("fake_newer_wait", stream, added);
}
int fake_newer_wait_ptsz(cu::Stream stream, cu::DevicePointer, std::uint64_t, unsigned, unsigned added) {
  return on_stream("fake_newer_wait_ptsz", stream, added);
}
int fake_module_unload(cu::Module module) { return cuModuleUnload(module); }
}
#pragma GCC visibility pop
