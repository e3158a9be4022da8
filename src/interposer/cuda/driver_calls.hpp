#pragma once

#include <cstddef>
#include <cstdint>

#include "interposer/cuda/driver_abi.hpp"

namespace elbowroom::interposer::cuda {

/// The driver functions that the interposer calls for itself; a null one is missing in this driver, and what needs it is left out.
/// They never pass a hook.
struct DriverCalls {
  int (*ctx_get_current)(cu::Context*);
  int (*ctx_push_current)(cu::Context);
  int (*ctx_pop_current)(cu::Context*);
  int (*ctx_get_device)(cu::Device*);
  int (*ctx_get_dev_resource)(cu::Context, cu::DeviceResource*, int type);
  int (*ctx_get_stream_priority_range)(int* least, int* greatest);
  int (*device_get_attribute)(int*, int attribute, cu::Device);
  int (*device_get_name)(char* name, int length, cu::Device);
  int (*device_get_bus_id)(char* text, int length, cu::Device);
  int (*stream_get_ctx)(cu::Stream, cu::Context*);
  int (*stream_create)(cu::Stream*, unsigned flags);
  int (*stream_wait_event)(cu::Stream, cu::Event, unsigned flags);
  int (*stream_is_capturing)(cu::Stream, int* status);
  int (*event_create)(cu::Event*, unsigned flags);
  int (*event_destroy)(cu::Event);
  int (*event_record)(cu::Event, cu::Stream);
  int (*primary_ctx_get_state)(cu::Device, unsigned* flags, int* active);
  int (*event_query)(cu::Event);
  int (*event_elapsed_time)(float* milliseconds, cu::Event begin, cu::Event end);
  int (*func_get_attribute)(int*, int attribute, cu::Function);
  int (*func_set_attribute)(cu::Function, int attribute, int value);
  int (*func_get_name)(const char**, cu::Function);
  int (*func_is_loaded)(int* state, cu::Function);
  int (*kernel_get_function)(cu::Function*, cu::Kernel);
  int (*occupancy)(int* blocks, cu::Function, int threads, std::size_t dynamic_shared);
  int (*launch_kernel_ex)(const cu::LaunchConfig*, cu::Function, void** parameters, void** extra);
  int (*exchange_capture_mode)(int* mode);

  /// Looks them all up in the loaded driver.
  static DriverCalls find();
};

/// `function` itself, or the function of the current context where it is a CUkernel, which most calls refuse.
cu::Function plain_function(const DriverCalls& driver, cu::Function function);

}  // namespace elbowroom::interposer::cuda
