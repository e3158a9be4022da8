#include <algorithm>

#include "objects.hpp"

// The driver's launch, stream and event entry points. `_ptsz` forms are written down under their own name.

#pragma GCC visibility push(default)

namespace {

constexpr int kInvalidValue = 1;
constexpr int kNotReady = 600;

// An event that a launch in a capture records belongs to the capture.
void mark_completion_events(const FakeCall& call) {
  for (unsigned i = 0; i < std::min(call.attribute_count, kFakeAttributes); ++i) {
    if (call.attributes[i].id != cu::kLaunchCompletionEvent) { continue; }
    auto* event = fake::object<fake::Event>(call.attributes[i].value.launch_completion_event.event);
    event->capture = fake::capture_of(call.stream);
    event->of_begin = true;
  }
}

int finish_launch(const FakeCall& call) {
  const int injected = fake::enter(call);
  if (injected != 0) { return injected; }
  const auto* function = fake::object<fake::Function>(call.function);
  const auto* kernel = fake::object<fake::Kernel>(call.function);
  if (function == nullptr && kernel != nullptr) { function = kernel->function; }
  if (function == nullptr) { return cu::kErrorInvalidHandle; }
  if (static_cast<int>(call.shared) > function->max_dynamic) { return kInvalidValue; }
  mark_completion_events(call);
  return 0;
}

int launch(const char* name, cu::Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
           unsigned shared, cu::Stream stream, void** parameters, void** extra) {
  FakeCall call = fake::named(name);
  call.function = function;
  call.stream = stream;
  call.grid[0] = gx, call.grid[1] = gy, call.grid[2] = gz;
  call.block[0] = bx, call.block[1] = by, call.block[2] = bz;
  call.shared = shared;
  call.parameters = parameters;
  call.extra = extra;
  return finish_launch(call);
}

int launch_ex(const char* name, const cu::LaunchConfig* config, cu::Function function, void** parameters, void** extra) {
  if (config == nullptr) { return kInvalidValue; }
  FakeCall call = fake::named(name);
  call.function = function;
  call.stream = config->stream;
  call.grid[0] = config->grid_x, call.grid[1] = config->grid_y, call.grid[2] = config->grid_z;
  call.block[0] = config->block_x, call.block[1] = config->block_y, call.block[2] = config->block_z;
  call.shared = config->shared_bytes;
  call.parameters = parameters;
  call.extra = extra;
  call.attribute_count = config->attribute_count;
  std::copy_n(config->attributes, std::min(config->attribute_count, kFakeAttributes), call.attributes);
  return finish_launch(call);
}

int on_stream(const char* name, cu::Stream stream, unsigned long long flags = 0) {
  FakeCall call = fake::named(name);
  call.stream = stream;
  call.flags = flags;
  return fake::enter_of(stream, call);
}

int record(const char* name, cu::Event event, cu::Stream stream, unsigned flags) {
  FakeCall call = fake::named(name);
  call.stream = stream;
  call.event = event;
  call.flags = flags;
  const int injected = fake::enter_of(event, call);
  if (injected != 0) { return injected; }
  auto* known = fake::object<fake::Event>(event);
  if (known == nullptr) { return cu::kErrorInvalidHandle; }
  fake::Capture* capture = fake::capture_of(stream);
  known->capture = capture;
  known->of_begin = false;
  known->recorded_at = fake::now();
  return 0;
}

int wait(const char* name, cu::Stream stream, cu::Event event, unsigned flags) {
  FakeCall call = fake::named(name);
  call.stream = stream;
  call.event = event;
  call.flags = flags;
  const int injected = fake::enter_of(stream, call);
  if (injected != 0) { return injected; }
  auto* known = fake::object<fake::Event>(event);
  if (known == nullptr) { return cu::kErrorInvalidHandle; }
  if (known->capture != nullptr && !known->capture->ended) { fake::set_capture(stream, known->capture); }
  return 0;
}

int query(const char* name, cu::Stream stream, cu::Event event) {
  FakeCall call = fake::named(name);
  call.stream = stream;
  call.event = event;
  const int injected = fake::enter_of(event, call);
  if (injected != 0) { return injected; }
  if (fake::breaks_capture()) { return fake::kCaptureUnsupported; }
  const auto* known = fake::object<fake::Event>(event);
  return fake::finished() || (known != nullptr && known->of_begin && fake::begun()) ? 0 : kNotReady;
}

int begin(const char* name, cu::Stream stream, int mode) {
  const int injected = on_stream(name, stream, static_cast<unsigned>(mode));
  if (injected != 0) { return injected; }
  if (fake::object<fake::Stream>(stream) == nullptr || fake::capture_of(stream) != nullptr) { return kInvalidValue; }
  fake::begin_capture(stream, mode);
  return 0;
}

}  // namespace

extern "C" {

#define FAKE_LAUNCH(name)                                                                                                        \
  int name(cu::Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, \
           cu::Stream stream, void** parameters, void** extra) {                                                                 \
    return launch(#name, function, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);                                   \
  }
FAKE_LAUNCH(cuLaunchKernel)
FAKE_LAUNCH(cuLaunchKernel_ptsz)

#define FAKE_LAUNCH_EX(name)                                                                         \
  int name(const cu::LaunchConfig* config, cu::Function function, void** parameters, void** extra) { \
    return launch_ex(#name, config, function, parameters, extra);                                    \
  }
FAKE_LAUNCH_EX(cuLaunchKernelEx)
FAKE_LAUNCH_EX(cuLaunchKernelEx_ptsz)

#define FAKE_COOPERATIVE(name)                                                                                                   \
  int name(cu::Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, \
           cu::Stream stream, void** parameters) {                                                                               \
    return launch(#name, function, gx, gy, gz, bx, by, bz, shared, stream, parameters, nullptr);                                 \
  }
FAKE_COOPERATIVE(cuLaunchCooperativeKernel)
FAKE_COOPERATIVE(cuLaunchCooperativeKernel_ptsz)

#define FAKE_ON_STREAM(name, parameters, stream) \
  int name parameters { return on_stream(#name, stream); }
FAKE_ON_STREAM(cuStreamSynchronize, (cu::Stream stream), stream)
FAKE_ON_STREAM(cuLaunchHostFunc, (cu::Stream stream, void (*)(void*), void*), stream)
FAKE_ON_STREAM(cuLaunchHostFunc_ptsz, (cu::Stream stream, void (*)(void*), void*), stream)
FAKE_ON_STREAM(cuMemcpyAsync, (cu::DevicePointer, cu::DevicePointer, std::size_t, cu::Stream stream), stream)
FAKE_ON_STREAM(cuMemcpyAsync_ptsz, (cu::DevicePointer, cu::DevicePointer, std::size_t, cu::Stream stream), stream)

int cuStreamQuery(cu::Stream stream) { return query("cuStreamQuery", stream, nullptr); }

int cuStreamDestroy_v2(cu::Stream stream) {
  const int injected = on_stream("cuStreamDestroy_v2", stream);
  if (injected != 0) { return injected; }
  auto* known = fake::object<fake::Stream>(stream);
  if (known == nullptr) { return cu::kErrorInvalidHandle; }
  fake::set_capture(stream, nullptr);  // the object stays: old handles are still looked at
  return 0;
}

int cuStreamWaitEvent(cu::Stream stream, cu::Event event, unsigned flags) {
  return wait("cuStreamWaitEvent", stream, event, flags);
}
int cuStreamWaitEvent_ptsz(cu::Stream stream, cu::Event event, unsigned flags) {
  return wait("cuStreamWaitEvent_ptsz", stream, event, flags);
}
int cuEventRecord(cu::Event event, cu::Stream stream) { return record("cuEventRecord", event, stream, 0); }
int cuEventRecord_ptsz(cu::Event event, cu::Stream stream) { return record("cuEventRecord_ptsz", event, stream, 0); }
int cuEventRecordWithFlags(cu::Event event, cu::Stream stream, unsigned flags) {
  return record("cuEventRecordWithFlags", event, stream, flags);
}
int cuEventQuery(cu::Event event) { return query("cuEventQuery", nullptr, event); }
int cuEventSynchronize(cu::Event event) {
  FakeCall call = fake::named("cuEventSynchronize");
  call.event = event;
  return fake::enter(call);
}
int cuEventElapsedTime(float* milliseconds, cu::Event begin, cu::Event end) {
  fake::reached("cuEventElapsedTime");
  const auto* first = fake::object<fake::Event>(begin);
  const auto* last = fake::object<fake::Event>(end);
  if (first == nullptr || last == nullptr || ((first->flags | last->flags) & cu::kEventDisableTiming) != 0) {
    return cu::kErrorInvalidHandle;
  }
  const bool by_clock = first->recorded_at >= 0 && last->recorded_at >= 0;
  *milliseconds = by_clock ? static_cast<float>(last->recorded_at - first->recorded_at) : fake::begun() ? 0.1F : 0.0F;
  return 0;
}

int cuStreamBeginCapture_v2(cu::Stream stream, int mode) { return begin("cuStreamBeginCapture_v2", stream, mode); }
int cuStreamBeginCapture_v2_ptsz(cu::Stream stream, int mode) { return begin("cuStreamBeginCapture_v2_ptsz", stream, mode); }
int cuStreamEndCapture(cu::Stream stream, cu::Graph* graph) {
  const int injected = on_stream("cuStreamEndCapture", stream);
  if (injected != 0) { return injected; }
  bool broken = false;
  fake::Graph* made = fake::end_capture(stream, broken);
  *graph = broken ? nullptr : reinterpret_cast<cu::Graph>(made);
  return made == nullptr ? kInvalidValue : broken ? 901 : 0;
}
int cuStreamIsCapturing(cu::Stream stream, int* status) {
  fake::reached("cuStreamIsCapturing");
  *status = fake::capture_of(stream) != nullptr ? cu::kCaptureActive : cu::kCaptureNone;
  return 0;
}
int cuThreadExchangeStreamCaptureMode(int* mode) {
  fake::reached("cuThreadExchangeStreamCaptureMode");
  *mode = fake::exchange_capture_mode(*mode);
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop
