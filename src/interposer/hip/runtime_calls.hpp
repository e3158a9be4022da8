#pragma once

#include <cstddef>
#include <cstdint>

#include "interposer/driver/calls.hpp"
#include "interposer/hip/hip_abi.hpp"

namespace elbowroom::interposer::hip {

/// The functions of the HIP runtime that the interposer calls for itself. A null one is missing in this version, and what needs it
/// is left out. They never pass a hook.
struct RuntimeCalls {
  int (*runtime_get_version)(int*);
  int (*get_last_error)();
  int (*peek_at_last_error)();
  int (*get_device)(int*);
  int (*set_device)(int);
  int (*device_get_attribute)(int*, int attribute, int device);
  int (*device_get_name)(char* name, int length, int device);
  int (*device_get_bus_id)(char* text, int length, int device);
  int (*device_get_stream_priority_range)(int* least, int* greatest);
  int (*get_stream_device_id)(hip::Stream);  ///< the device itself, negative where there is none
  int (*stream_create_with_priority)(hip::Stream*, unsigned flags, int priority);
  int (*stream_destroy)(hip::Stream);
  int (*stream_get_priority)(hip::Stream, int*);
  int (*stream_is_capturing)(hip::Stream, int* status);
  int (*stream_wait_event)(hip::Stream, hip::Event, unsigned flags);
  int (*event_create_with_flags)(hip::Event*, unsigned flags);
  int (*event_destroy)(hip::Event);
  int (*event_record)(hip::Event, hip::Stream);
  int (*event_elapsed_time)(float* milliseconds, hip::Event begin, hip::Event end);
  int (*func_get_attribute)(int*, int attribute, hip::Function);
  int (*func_get_attributes)(hip::FuncAttributes*, const void* host_function);
  const char* (*kernel_name)(hip::Function);
  const char* (*kernel_name_by_host_function)(const void* host_function, hip::Stream);
  int (*occupancy)(int* blocks, const void* host_function, int threads, std::size_t dynamic_shared);
  int (*module_occupancy)(int* blocks, hip::Function, int threads, std::size_t dynamic_shared);
  int (*exchange_capture_mode)(int* mode);

  /// Looks them all up in the loaded runtime.
  static RuntimeCalls find();
};

/// Keeps failures of our own calls from the program's hipGetLastError, which tells of every call of the thread. A failure of the
/// program's that it has not read yet is never cleared.
class KeepsLastError {
 public:
  explicit KeepsLastError(const RuntimeCalls& calls) : calls_(calls), before_(peek()) {}
  ~KeepsLastError() {
    if (before_ == hip::kSuccess && peek() != hip::kSuccess && calls_.get_last_error != nullptr) { calls_.get_last_error(); }
  }
  KeepsLastError(const KeepsLastError&) = delete;
  KeepsLastError& operator=(const KeepsLastError&) = delete;

 private:
  [[nodiscard]] int peek() const { return calls_.peek_at_last_error == nullptr ? hip::kSuccess : calls_.peek_at_last_error(); }

  const RuntimeCalls& calls_;
  int before_;
};

/// Makes a device the calling thread's current one for a scope, where it is not.
class CurrentDevice {
 public:
  CurrentDevice(const RuntimeCalls& calls, int device);
  ~CurrentDevice();
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  const RuntimeCalls& calls_;
  int before_ = -1;
  bool changed_ = false;
  bool ok_ = false;
};

using RelaxedCapture = driver::RelaxedCapture<RuntimeCalls, hip::kCaptureModeRelaxed>;

}  // namespace elbowroom::interposer::hip
