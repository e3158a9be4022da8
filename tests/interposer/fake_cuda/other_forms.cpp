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

// Written down, and then what another form does.
#define FORWARDED(name, parameters, other)                \
  int name parameters {                                   \
    const int injected = fake::enter(fake::named(#name)); \
    return injected != 0 ? injected : other;              \
  }
#define FORWARDED_ON_STREAM(name, parameters, other) \
  int name parameters {                              \
    const int injected = on_stream(#name, stream);   \
    return injected != 0 ? injected : other;         \
  }

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

FORWARDED(cuLaunchCooperativeKernelMultiDevice, (void*, unsigned, unsigned), 0)
FORWARDED(cuEventCreateFromEGLSync, (cu::Event * event, void*, unsigned flags), cuEventCreate(event, flags))

FORWARDED(cuCtxDestroy, (cu::Context context), cuCtxDestroy_v2(context))
FORWARDED(cuDevicePrimaryCtxReset, (cu::Device), 0)
FORWARDED(cuDevicePrimaryCtxReset_v2, (cu::Device), 0)
FORWARDED(cuDevicePrimaryCtxRelease, (cu::Device device), cuDevicePrimaryCtxRelease_v2(device))
FORWARDED(cuLibraryUnload, (cu::Library), 0)

FORWARDED_ON_STREAM(cuStreamDestroy, (cu::Stream stream), cuStreamDestroy_v2(stream))
FORWARDED(cuEventDestroy, (cu::Event event), cuEventDestroy_v2(event))
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

FORWARDED_ON_STREAM(cuStreamBeginCapture, (cu::Stream stream), cuStreamBeginCapture_v2(stream, cu::kCaptureModeGlobal))
FORWARDED_ON_STREAM(cuStreamBeginCapture_ptsz, (cu::Stream stream), cuStreamBeginCapture_v2(stream, cu::kCaptureModeGlobal))
FORWARDED_ON_STREAM(cuStreamBeginCaptureToGraph,
                    (cu::Stream stream, cu::Graph, const cu::GraphNode*, const cu::GraphEdgeData*, std::size_t, int mode),
                    cuStreamBeginCapture_v2(stream, mode))
FORWARDED_ON_STREAM(cuStreamBeginCaptureToGraph_ptsz,
                    (cu::Stream stream, cu::Graph, const cu::GraphNode*, const cu::GraphEdgeData*, std::size_t, int mode),
                    cuStreamBeginCapture_v2(stream, mode))
FORWARDED_ON_STREAM(cuStreamBeginRecaptureToGraph, (cu::Stream stream, int mode, cu::Graph, void*, void*),
                    cuStreamBeginCapture_v2(stream, mode))
FORWARDED_ON_STREAM(cuStreamBeginRecaptureToGraph_ptsz, (cu::Stream stream, int mode, cu::Graph, void*, void*),
                    cuStreamBeginCapture_v2(stream, mode))
FORWARDED_ON_STREAM(cuStreamBeginCaptureToCig, (cu::Stream stream, void*), cuStreamBeginCapture_v2(stream, cu::kCaptureModeGlobal))
FORWARDED_ON_STREAM(cuStreamBeginCaptureToCig_ptsz, (cu::Stream stream, void*),
                    cuStreamBeginCapture_v2(stream, cu::kCaptureModeGlobal))
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
FORWARDED(cuIpcGetEventHandle, (cu::IpcEventHandle*, cu::Event), 0)
FORWARDED(cuCtxRecordEvent, (cu::Context, cu::Event), 0)
FORWARDED(cuCtxWaitEvent, (cu::Context, cu::Event), 0)
FORWARDED(cuGreenCtxRecordEvent, (cu::GreenContext, cu::Event), 0)
FORWARDED(cuGreenCtxWaitEvent, (cu::GreenContext, cu::Event), 0)
FORWARDED_ON_STREAM(cuStreamEndCapture_ptsz, (cu::Stream stream, cu::Graph* graph), cuStreamEndCapture(stream, graph))

FORWARDED(cuGraphInstantiateWithParams_ptsz, (cu::GraphExec * exec, cu::Graph graph, cu::GraphInstantiateParams* parameters),
          cuGraphInstantiateWithFlags(exec, graph, parameters->flags))
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
