#include "interposer/hip/runtime_calls.hpp"

#include "interposer/driver/calls.hpp"

namespace elbowroom::interposer::hip {
using driver::find_call;

RuntimeCalls RuntimeCalls::find() {
  RuntimeCalls calls;
  find_call(calls.runtime_get_version, "hipRuntimeGetVersion");
  find_call(calls.get_last_error, "hipGetLastError");
  find_call(calls.peek_at_last_error, "hipPeekAtLastError");
  find_call(calls.get_device, "hipGetDevice");
  find_call(calls.set_device, "hipSetDevice");
  find_call(calls.device_get_attribute, "hipDeviceGetAttribute");
  find_call(calls.device_get_name, "hipDeviceGetName");
  find_call(calls.device_get_bus_id, "hipDeviceGetPCIBusId");
  find_call(calls.device_get_stream_priority_range, "hipDeviceGetStreamPriorityRange");
  find_call(calls.get_stream_device_id, "hipGetStreamDeviceId");
  find_call(calls.stream_create_with_priority, "hipStreamCreateWithPriority");
  find_call(calls.stream_destroy, "hipStreamDestroy");
  find_call(calls.stream_get_priority, "hipStreamGetPriority");
  find_call(calls.stream_is_capturing, "hipStreamIsCapturing");
  find_call(calls.stream_wait_event, "hipStreamWaitEvent");
  find_call(calls.event_create_with_flags, "hipEventCreateWithFlags");
  find_call(calls.event_destroy, "hipEventDestroy");
  find_call(calls.event_record, "hipEventRecord");
  find_call(calls.event_elapsed_time, "hipEventElapsedTime");
  find_call(calls.func_get_attribute, "hipFuncGetAttribute");
  find_call(calls.func_get_attributes, "hipFuncGetAttributes");
  find_call(calls.kernel_name, "hipKernelNameRef");
  find_call(calls.kernel_name_by_host_function, "hipKernelNameRefByPtr");
  find_call(calls.occupancy, "hipOccupancyMaxActiveBlocksPerMultiprocessor");
  find_call(calls.module_occupancy, "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor");
  find_call(calls.exchange_capture_mode, "hipThreadExchangeStreamCaptureMode");
  return calls;
}

CurrentDevice::CurrentDevice(const RuntimeCalls& calls, int device) : calls_(calls) {
  if (device < 0 || calls.get_device == nullptr || calls.get_device(&before_) != hip::kSuccess) { return; }
  if (before_ == device) {
    ok_ = true;
    return;
  }
  changed_ = calls.set_device != nullptr && calls.set_device(device) == hip::kSuccess;
  ok_ = changed_;
}

CurrentDevice::~CurrentDevice() {
  if (changed_) { calls_.set_device(before_); }
}

}  // namespace elbowroom::interposer::hip
