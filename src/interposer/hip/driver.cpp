#include "interposer/hip/driver.hpp"

#include <bit>
#include <cstdio>
#include <cstdlib>

#include "interposer/core/unusual.hpp"
#include "interposer/driver/calls.hpp"

namespace elbowroom::interposer::hip {
namespace {

// LDS is given to blocks in such pieces, from gfx9 to gfx94x.
constexpr std::uint32_t kSharedGranule = 512;

bool is_host_function(FunctionId id) { return id >> 63U != 0; }
const void* host_function_of(FunctionId id) {
  return reinterpret_cast<const void*>(static_cast<std::uintptr_t>(id & ~(std::uint64_t{1} << 63U)));
}
hip::Function function_of(FunctionId id) { return reinterpret_cast<hip::Function>(static_cast<std::uintptr_t>(id)); }

FunctionInfo describe_host_function(const RuntimeCalls& calls, const void* function) {
  FunctionInfo info;
  hip::FuncAttributes attributes{};
  if (calls.func_get_attributes == nullptr || calls.kernel_name_by_host_function == nullptr ||
      calls.func_get_attributes(&attributes, function) != hip::kSuccess) {
    return info;
  }
  info.name = calls.kernel_name_by_host_function(function, nullptr);
  info.registers = static_cast<std::uint32_t>(attributes.registers);
  info.static_shared = static_cast<std::uint32_t>(attributes.shared_bytes);
  return info;
}

FunctionInfo describe_module_function(const RuntimeCalls& calls, hip::Function function) {
  FunctionInfo info;
  int registers = 0;
  int shared = 0;
  if (calls.func_get_attribute == nullptr || calls.kernel_name == nullptr ||
      calls.func_get_attribute(&registers, hip::kFuncNumRegs, function) != hip::kSuccess ||
      calls.func_get_attribute(&shared, hip::kFuncSharedSizeBytes, function) != hip::kSuccess) {
    return info;
  }
  info.name = calls.kernel_name(function);
  info.registers = static_cast<std::uint32_t>(registers);
  info.static_shared = static_cast<std::uint32_t>(shared);
  return info;
}

}  // namespace

Driver::Driver(const Calls& found) : calls(found), carriers(calls) {
  // They keep all streams to some of the compute units.
  for (const char* variable : {"ROC_GLOBAL_CU_MASK", "HSA_CU_MASK"}) {
    const char* const value = std::getenv(variable);
    if (value != nullptr && *value != '\0') { stand_aside(Unusual::masked_stream, variable); }
  }
}

std::optional<RuntimeCalls> Driver::find() {
  const RuntimeCalls found = RuntimeCalls::find();
  if (found.get_device == nullptr || found.runtime_get_version == nullptr) { return std::nullopt; }
  return found;
}

// HIP's events tell of the end of work alone, and its libraries take no number of compute units.
const char* Driver::leave_possible(Rules& rules) {
  rules.sm_target = 0;
  rules.product_count = 0;
  return "needs an event at the begin of a kernel, which HIP lacks";
}

Driver::Place Driver::current_place() const {
  int device = kNowhere;
  return calls.get_device(&device) == hip::kSuccess ? device : kNowhere;
}

Driver::Place Driver::place_of(Stream stream) const {
  const bool is_default = reinterpret_cast<std::uintptr_t>(stream) <= hip::kStreamPerThread;
  if (is_default || calls.get_stream_device_id == nullptr) { return current_place(); }
  return calls.get_stream_device_id(stream);
}

int Driver::device(Place place) {
  if (place >= 0) { devices_.fetch_or(std::uint64_t{1} << (static_cast<unsigned>(place) % 64U), std::memory_order_relaxed); }
  return place;
}

int Driver::devices_seen() const { return std::popcount(devices_.load()); }

bool Driver::can_time() const {
  return calls.event_create_with_flags != nullptr && calls.event_record != nullptr && calls.event_elapsed_time != nullptr;
}

bool Driver::make_event(Place device, Event& event) const {
  const CurrentDevice scope(calls, device);
  const RelaxedCapture relaxed(calls);
  return scope.ok() && calls.event_create_with_flags(&event, 0) == hip::kSuccess;
}

void Driver::destroy_event(Place /*device*/, Event event) const {
  if (calls.event_destroy != nullptr) { calls.event_destroy(event); }
}

FunctionInfo Driver::describe_function(FunctionId id) const {
  return is_host_function(id) ? describe_host_function(calls, host_function_of(id))
                              : describe_module_function(calls, function_of(id));
}

bool Driver::is_captured(Stream stream) const {
  if (calls.stream_is_capturing == nullptr) { return false; }
  const KeepsLastError errors(calls);
  int status = hip::kCaptureNone;
  return calls.stream_is_capturing(stream, &status) != hip::kSuccess || status != hip::kCaptureNone;
}

int Driver::elapsed(float& milliseconds, Event begin, Event end) const {
  return calls.event_elapsed_time(&milliseconds, begin, end);
}

DeviceInfo Driver::describe_device(int device) const {
  DeviceInfo info;
  info.sms = driver::device_attribute(calls, device, hip::kDeviceMultiprocessorCount);
  info.shared_per_sm = driver::device_attribute(calls, device, hip::kDeviceMaxSharedMemoryPerMultiprocessor);
  info.reserved_per_block = 0;
  info.max_shared_per_block = driver::device_attribute(calls, device, hip::kDeviceMaxSharedMemoryPerBlock);
  info.shared_granule = kSharedGranule;
  return info;
}

std::uint32_t Driver::blocks_per_sm(FunctionId id, std::uint32_t threads, std::uint32_t dynamic_shared) const {
  int blocks = 0;
  int result = hip::kErrorNotInitialized;
  if (is_host_function(id)) {
    if (calls.occupancy != nullptr) {
      result = calls.occupancy(&blocks, host_function_of(id), static_cast<int>(threads), dynamic_shared);
    }
  } else if (calls.module_occupancy != nullptr) {
    result = calls.module_occupancy(&blocks, function_of(id), static_cast<int>(threads), dynamic_shared);
  }
  return result == hip::kSuccess && blocks > 0 ? static_cast<std::uint32_t>(blocks) : 0;
}

}  // namespace elbowroom::interposer::hip
