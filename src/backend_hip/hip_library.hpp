#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "backend/dynamic_library.hpp"
#include "backend_hip/hip_abi.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::hip {

/// A loaded HIP runtime. It stays loaded until the process ends: it has threads of its own.
class HipLibrary {
 public:
  /// `unavailable` names the files that were tried.
  static Result<std::shared_ptr<const HipLibrary>> load();

  /// Turns a return code into a Status that names the call and what the runtime says of the code.
  [[nodiscard]] Status check(int code, const char* call) const;

  /// Makes `device` the calling thread's current one; cheap when it already is.
  [[nodiscard]] Status use_device(int device) const { return check(functions.set_device(device), "hipSetDevice"); }

  [[nodiscard]] Result<int> attribute(DeviceAttribute which, int device) const;

  /// "6.2.41134"
  [[nodiscard]] std::string version() const;
  /// 5, 6, 7: libraries of other generations must not be mixed with it. 0 when the runtime does not say.
  [[nodiscard]] int generation() const { return version_ / kGeneration; }

  [[nodiscard]] const PropertiesLayout& properties_layout() const { return *properties_; }

  struct Functions {
    const char* (*get_error_string)(int code);
    const char* (*get_error_name)(int code);
    int (*get_last_error)();
    int (*runtime_get_version)(int* version);
    int (*get_device_count)(int* count);
    int (*set_device)(int device);
    int (*device_get_attribute)(int* value, int attribute, int device);
    int (*get_device_properties)(void* properties, int device);
    int (*device_total_mem)(std::size_t* bytes, int device);
    int (*device_synchronize)();
    int (*device_get_stream_priority_range)(int* least, int* greatest);
    int (*stream_create_with_priority)(HipStream* stream, unsigned flags, int priority);
    int (*ext_stream_create_with_cu_mask)(HipStream* stream, std::uint32_t words, const std::uint32_t* mask);
    int (*stream_destroy)(HipStream stream);
    int (*stream_synchronize)(HipStream stream);
    int (*stream_wait_event)(HipStream stream, HipEvent event, unsigned flags);
    int (*stream_wait_value64)(HipStream stream, void* word, std::uint64_t value, unsigned flags, std::uint64_t mask);
    int (*event_create_with_flags)(HipEvent* event, unsigned flags);
    int (*event_destroy)(HipEvent event);
    int (*event_record)(HipEvent event, HipStream stream);
    int (*event_query)(HipEvent event);
    int (*event_elapsed_time)(float* milliseconds, HipEvent begin, HipEvent end);
    int (*malloc)(void** memory, std::size_t bytes);
    int (*free)(void* memory);
    int (*host_malloc)(void** memory, std::size_t bytes, unsigned flags);
    int (*host_free)(void* memory);
    int (*ext_malloc_with_flags)(void** memory, std::size_t bytes, unsigned flags);
    int (*mem_get_info)(std::size_t* free, std::size_t* total);
    int (*memcpy)(void* to, const void* from, std::size_t bytes, int kind);
    int (*memset_async)(void* memory, int value, std::size_t bytes, HipStream stream);
    int (*module_load_data)(HipModule* module, const void* image);
    int (*module_unload)(HipModule module);
    int (*module_get_function)(HipFunction* function, HipModule module, const char* name);
    int (*module_launch_kernel)(HipFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                unsigned block_y, unsigned block_z, unsigned dynamic_shared, HipStream stream, void** parameters,
                                void** extra);
    int (*func_get_attribute)(int* value, int attribute, HipFunction function);
  };
  Functions functions{};

 private:
  static constexpr int kGeneration = 10'000'000;

  explicit HipLibrary(elbowroom::detail::DynamicLibrary library) : library_(std::move(library)) {}
  Status bind_all();
  Status bind_memory();
  Status bind_properties();

  elbowroom::detail::DynamicLibrary library_;
  const PropertiesLayout* properties_ = &kProperties6;
  int version_ = 0;
};

}  // namespace elbowroom::hip
