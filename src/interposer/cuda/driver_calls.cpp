#include "interposer/cuda/driver_calls.hpp"

#include "interposer/driver/calls.hpp"

namespace elbowroom::interposer::cuda {
using driver::find_call;

DriverCalls DriverCalls::find() {
  DriverCalls calls;
  find_call(calls.ctx_get_current, "cuCtxGetCurrent");
  find_call(calls.ctx_push_current, "cuCtxPushCurrent_v2");
  find_call(calls.ctx_pop_current, "cuCtxPopCurrent_v2");
  find_call(calls.ctx_get_device, "cuCtxGetDevice");
  find_call(calls.ctx_get_dev_resource, "cuCtxGetDevResource");
  find_call(calls.ctx_get_stream_priority_range, "cuCtxGetStreamPriorityRange");
  find_call(calls.device_get_attribute, "cuDeviceGetAttribute");
  find_call(calls.device_get_name, "cuDeviceGetName");
  find_call(calls.device_get_bus_id, "cuDeviceGetPCIBusId");
  find_call(calls.stream_get_ctx, "cuStreamGetCtx");
  find_call(calls.stream_create, "cuStreamCreate");
  find_call(calls.stream_wait_event, "cuStreamWaitEvent");
  find_call(calls.stream_is_capturing, "cuStreamIsCapturing");
  find_call(calls.event_create, "cuEventCreate");
  find_call(calls.event_destroy, "cuEventDestroy_v2");
  find_call(calls.event_record, "cuEventRecord");
  find_call(calls.primary_ctx_get_state, "cuDevicePrimaryCtxGetState");
  find_call(calls.event_query, "cuEventQuery");
  find_call(calls.event_elapsed_time, "cuEventElapsedTime");
  find_call(calls.func_get_attribute, "cuFuncGetAttribute");
  find_call(calls.func_set_attribute, "cuFuncSetAttribute");
  find_call(calls.func_get_name, "cuFuncGetName");
  find_call(calls.func_is_loaded, "cuFuncIsLoaded");
  find_call(calls.kernel_get_function, "cuKernelGetFunction");
  find_call(calls.occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  find_call(calls.launch_kernel_ex, "cuLaunchKernelEx");
  find_call(calls.exchange_capture_mode, "cuThreadExchangeStreamCaptureMode");
  return calls;
}

cu::Function plain_function(const DriverCalls& driver, cu::Function function) {
  int unused = 0;
  if (driver.func_get_attribute == nullptr || driver.kernel_get_function == nullptr) { return function; }
  if (driver.func_get_attribute(&unused, cu::kFuncMaxThreadsPerBlock, function) == cu::kSuccess) { return function; }
  cu::Function converted = nullptr;
  const int result = driver.kernel_get_function(&converted, reinterpret_cast<cu::Kernel>(function));
  return result == cu::kSuccess && converted != nullptr ? converted : function;
}

}  // namespace elbowroom::interposer::cuda
