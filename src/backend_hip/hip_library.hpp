#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "backend/dynamic_library.hpp"
#include "backend_gpu/runtime.hpp"
#include "backend_hip/hip_abi.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::hip {

/// A loaded HIP runtime. It stays loaded until the process ends: it has threads of its own.
class HipLibrary {
 public:
  /// `unavailable` names the files that were tried.
  static Result<std::shared_ptr<const HipLibrary>> load();

  /// What every GPU backend calls.
  [[nodiscard]] const gpu::Runtime& runtime() const { return runtime_; }

  [[nodiscard]] Result<int> attribute(DeviceAttribute which, int device) const;

  /// "6.2.41134"
  [[nodiscard]] std::string version() const;
  /// 5, 6, 7: libraries of other generations must not be mixed with it. 0 when the runtime does not say.
  [[nodiscard]] int generation() const { return version_ / kGeneration; }

  [[nodiscard]] const PropertiesLayout& properties_layout() const { return *properties_; }

  /// What no other runtime has.
  struct Functions {
    int (*runtime_get_version)(int* version);
    int (*get_device_count)(int* count);
    int (*device_get_attribute)(int* value, int attribute, int device);
    int (*get_device_properties)(void* properties, int device);
    int (*device_total_mem)(std::size_t* bytes, int device);
    int (*device_get_pci_bus_id)(char* text, int length, int device);
    int (*ext_stream_create_with_cu_mask)(gpu::StreamHandle* stream, std::uint32_t words, const std::uint32_t* mask);
    int (*stream_wait_value64)(gpu::StreamHandle stream, void* word, std::uint64_t value, unsigned flags, std::uint64_t mask);
    int (*ext_malloc_with_flags)(void** memory, std::size_t bytes, unsigned flags);
    int (*module_load_data)(HipModule* module, const void* image);
    int (*module_unload)(HipModule module);
    int (*module_get_function)(gpu::Function* function, HipModule module, const char* name);
  };
  Functions functions{};

 private:
  static constexpr int kGeneration = 10'000'000;

  explicit HipLibrary(elbowroom::detail::DynamicLibrary library) : library_(std::move(library)) {}
  Status bind_own();
  Status bind_runtime();
  Status bind_memory_and_kernels();
  Status bind_properties();

  elbowroom::detail::DynamicLibrary library_;
  gpu::Runtime runtime_{gpu::RuntimeCalls{}};
  const PropertiesLayout* properties_ = &kProperties6;
  int version_ = 0;
};

}  // namespace elbowroom::hip
