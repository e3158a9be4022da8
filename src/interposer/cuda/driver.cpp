#include "interposer/cuda/driver.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <new>

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

// The question for its flags breaks the capture that a stream is in, whatever the thread's mode.
bool Driver::is_non_blocking(Stream stream) const {
  if (calls.stream_get_flags == nullptr || calls.stream_is_capturing == nullptr || is_captured(stream)) { return false; }
  unsigned flags = 0;
  return calls.stream_get_flags(stream, &flags) == cu::kSuccess && (flags & cu::kStreamNonBlocking) != 0;
}

bool Driver::is_captured(Stream stream) const {
  if (calls.stream_is_capturing == nullptr) { return false; }
  int status = cu::kCaptureNone;
  return calls.stream_is_capturing(stream, &status) != cu::kSuccess || status != cu::kCaptureNone;
}

std::uint64_t Driver::capture_of(Stream stream) const {
  int status = cu::kCaptureNone;
  std::uint64_t capture = 0;
  const bool asked =
      calls.stream_get_capture_info != nullptr && calls.stream_get_capture_info(stream, &status, &capture) == cu::kSuccess;
  return asked && status == cu::kCaptureActive ? capture : 0;
}

bool Driver::are_of_two_devices(cu::DevicePointer one, cu::DevicePointer other) const {
  if (calls.pointer_get_attributes == nullptr) { return true; }
  constexpr std::array<int, 2> attributes{cu::kPointerMemoryType, cu::kPointerDeviceOrdinal};
  std::array<int, 2> devices{};
  const std::array pointers{one, other};
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    unsigned type = 0;
    std::array<void*, 2> values{&type, &devices[i]};
    const int asked = calls.pointer_get_attributes(attributes.size(), attributes.data(), values.data(), pointers[i]);
    if (asked != cu::kSuccess) { return true; }
    if (type != cu::kMemoryTypeDevice) { return false; }
  }
  return devices[0] != devices[1];
}

bool Driver::are_of_two_devices(Place one, Place other) {
  const int device = contexts.device(one);
  return device < 0 || device != contexts.device(other);
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

bool Driver::uses_node_priorities() {
  const char* const value = std::getenv("CUDA_GRAPHS_USE_NODE_PRIORITY");
  return value != nullptr && std::strcmp(value, "1") == 0;
}

const char* Driver::name_of(const KernelNodeParams& parameters) const {
  cu::Function function = parameters.v1.function;
  if (function == nullptr && calls.kernel_get_function != nullptr) { calls.kernel_get_function(&function, parameters.kernel); }
  const char* name = nullptr;
  const bool asks = function != nullptr && calls.func_get_name != nullptr;
  return asks && calls.func_get_name(&name, plain_function(calls, function)) == cu::kSuccess ? name : nullptr;
}

// Host functions, waits for values, semaphores and events of others and conditions need not end.
bool Driver::ends_by_itself(int graph_node_type) {
  constexpr std::array types{cu::kGraphNodeMemcpy,          cu::kGraphNodeMemset,   cu::kGraphNodeEmpty,  cu::kGraphNodeEventRecord,
                             cu::kGraphNodeSemaphoreSignal, cu::kGraphNodeMemAlloc, cu::kGraphNodeMemFree};
  return std::ranges::find(types, graph_node_type) != types.end();
}

bool Driver::may_record(int graph_node_type) {
  return graph_node_type == cu::kGraphNodeEventRecord ||
         (!ends_by_itself(graph_node_type) && graph_node_type != cu::kGraphNodeHost);
}

}  // namespace elbowroom::interposer::cuda
