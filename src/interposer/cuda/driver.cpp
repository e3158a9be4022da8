#include "interposer/cuda/driver.hpp"

#include <cstdlib>
#include <string_view>

#include "interposer/driver/calls.hpp"

namespace elbowroom::interposer::cuda {
namespace {

// Drivers before CUDA 12 know no such attribute, and no cluster.
std::uint32_t required_cluster(const DriverCalls& calls, cu::Function function) {
  std::uint32_t blocks = 1;
  for (const auto extent : {cu::kFuncRequiredClusterWidth, cu::kFuncRequiredClusterHeight, cu::kFuncRequiredClusterDepth}) {
    int value = 0;
    const bool known = calls.func_get_attribute(&value, extent, function) == cu::kSuccess;
    blocks *= known && value > 1 ? static_cast<std::uint32_t>(value) : 1;
  }
  return blocks;
}

cu::Function function_of(const DriverCalls& calls, FunctionId id) {
  return plain_function(calls, reinterpret_cast<cu::Function>(static_cast<std::uintptr_t>(id)));
}

}  // namespace

std::optional<DriverCalls> Driver::find() {
  const DriverCalls found = DriverCalls::find();
  if (found.launch_kernel_ex == nullptr || found.ctx_get_current == nullptr) { return std::nullopt; }
  return found;
}

// An event with a time holds up all that is launched behind it where there is one connection. The gate needs one, and that one
// queue keeps the order of launches anyway.
const char* Driver::leave_possible(Rules& /*rules*/) {
  const char* const connections = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
  const bool one = connections != nullptr && std::string_view(connections) == "1";
  return one ? "is of no use where CUDA_DEVICE_MAX_CONNECTIONS is 1" : nullptr;
}

// Any question about a function's attributes loads it. Drivers before CUDA 12.4 do not tell whether it is loaded.
void Driver::load_function(FunctionId id) const {
  const auto is_loaded = [&](cu::Function function) {
    int state = 0;
    return calls.func_is_loaded != nullptr && calls.func_is_loaded(&state, function) == cu::kSuccess &&
           state == cu::kFunctionLoaded;
  };
  const auto named = reinterpret_cast<cu::Function>(static_cast<std::uintptr_t>(id));
  if (is_loaded(named)) { return; }
  const cu::Function function = plain_function(calls, named);
  if (function != named && !is_loaded(function)) { static_cast<void>(plain_function(calls, function)); }
}

FunctionInfo Driver::describe_function(FunctionId id) const {
  FunctionInfo info;
  if (calls.func_get_attribute == nullptr || calls.func_get_name == nullptr) { return info; }
  const cu::Function function = function_of(calls, id);
  int registers = 0;
  int shared = 0;
  const char* name = nullptr;
  if (calls.func_get_attribute(&registers, cu::kFuncNumRegs, function) != cu::kSuccess ||
      calls.func_get_attribute(&shared, cu::kFuncSharedSizeBytes, function) != cu::kSuccess ||
      calls.func_get_name(&name, function) != cu::kSuccess) {
    return info;
  }
  info.name = name;
  info.registers = static_cast<std::uint32_t>(registers);
  info.static_shared = static_cast<std::uint32_t>(shared);
  info.required_cluster = required_cluster(calls, function);
  return info;
}

// The question breaks the capture that a stream is in, whatever the thread's mode.
bool Driver::is_captured(Stream stream) const {
  if (calls.stream_is_capturing == nullptr) { return false; }
  int status = cu::kCaptureNone;
  return calls.stream_is_capturing(stream, &status) != cu::kSuccess || status != cu::kCaptureNone;
}

bool Driver::watch_begin(Place context, EventSlot slot) {
  const Event begin = contexts.completion_event(context, slot);
  Contexts::Watch* watch = contexts.watch_of(context);
  const RelaxedCapture relaxed(calls);
  const CurrentContext scope(calls, context);
  if (!scope.ok() || begin == nullptr || watch == nullptr || calls.stream_wait_event == nullptr) { return false; }
  if (watch->stream == nullptr && calls.stream_create(&watch->stream, cu::kStreamNonBlocking) != cu::kSuccess) { return false; }
  if (watch->begun == nullptr && calls.event_create(&watch->begun, 0) != cu::kSuccess) { return false; }
  return calls.stream_wait_event(watch->stream, begin, 0) == cu::kSuccess &&
         calls.event_record(watch->begun, watch->stream) == cu::kSuccess;
}

// An event that passed with the end did so within 2 us of it on H200.
bool Driver::begin_told(Place context, Event end) {
  constexpr float kClearlyMs = 0.01F;
  const Contexts::Watch* watch = contexts.watch_of(context);
  float between = 0;
  const RelaxedCapture relaxed(calls);
  return end != nullptr && watch != nullptr && elapsed(between, watch->begun, end) == cu::kSuccess && between > kClearlyMs;
}

DeviceInfo Driver::describe_device(int device) const {
  DeviceInfo info;
  info.sms = driver::device_attribute(calls, device, cu::kDeviceMultiprocessorCount);
  info.shared_per_sm = driver::device_attribute(calls, device, cu::kDeviceMaxSharedMemoryPerMultiprocessor);
  info.reserved_per_block =
      driver::device_attribute(calls, device, cu::kDeviceReservedSharedMemoryPerBlock, info.reserved_per_block);
  info.max_shared_per_block = driver::device_attribute(calls, device, cu::kDeviceMaxSharedMemoryPerBlockOptin);
  return info;
}

std::uint32_t Driver::blocks_per_sm(FunctionId id, std::uint32_t threads, std::uint32_t dynamic_shared) const {
  if (calls.occupancy == nullptr) { return 0; }
  int blocks = 0;
  const int result = calls.occupancy(&blocks, function_of(calls, id), static_cast<int>(threads), dynamic_shared);
  return result == cu::kSuccess && blocks > 0 ? static_cast<std::uint32_t>(blocks) : 0;
}

}  // namespace elbowroom::interposer::cuda
