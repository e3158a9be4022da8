#include "backend_hip/hip_library.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "elbowroom/base/environment.hpp"

namespace elbowroom::hip {

Result<std::shared_ptr<const HipLibrary>> HipLibrary::load() {
  std::vector<std::string> names{"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"};
  if (const auto chosen = read(kHipLibrary)) { names = {*chosen}; }
  auto library = elbowroom::detail::DynamicLibrary::open(names);
  if (!library) { return unavailable(fmt::format("HIP: {}; set {} to its path", library.error().message, kHipLibrary.name)); }
  library->keep_loaded();

  std::shared_ptr<HipLibrary> hip(new HipLibrary(std::move(*library)));
  for (const Status& bound : {hip->bind_runtime(), hip->bind_memory_and_kernels(), hip->bind_own(), hip->bind_properties()}) {
    if (!bound) { return unavailable(fmt::format("HIP: {}, expected ROCm 5 or later", bound.error().message)); }
  }
  if (hip->functions.runtime_get_version(&hip->version_) != gpu::kSuccess) { hip->version_ = 0; }
  return std::shared_ptr<const HipLibrary>(std::move(hip));
}

Status HipLibrary::bind_runtime() {
  gpu::RuntimeCalls& to = runtime_.calls;
  for (const Status& bound : {
           library_.bind("hipGetErrorString", to.get_error_string),
           library_.bind("hipGetErrorName", to.get_error_name),
           bind(library_, "hipGetLastError", to.get_last_error),
           bind(library_, "hipGetDevice", to.get_device),
           bind(library_, "hipSetDevice", to.set_device),
           bind(library_, "hipDeviceSynchronize", to.device_synchronize),
           bind(library_, "hipDeviceGetStreamPriorityRange", to.device_get_stream_priority_range),
           bind(library_, "hipStreamCreateWithPriority", to.stream_create_with_priority),
           bind(library_, "hipStreamDestroy", to.stream_destroy),
           bind(library_, "hipStreamGetPriority", to.stream_get_priority),
           bind(library_, "hipStreamSynchronize", to.stream_synchronize),
           bind(library_, "hipStreamWaitEvent", to.stream_wait_event),
           bind(library_, "hipEventCreateWithFlags", to.event_create_with_flags),
           bind(library_, "hipEventDestroy", to.event_destroy),
           bind(library_, "hipEventRecord", to.event_record),
           bind(library_, "hipEventQuery", to.event_query),
           bind(library_, "hipEventElapsedTime", to.event_elapsed_time),
       }) {
    if (!bound) { return bound; }
  }
  return {};
}

Status HipLibrary::bind_memory_and_kernels() {
  gpu::RuntimeCalls& to = runtime_.calls;
  for (const Status& bound : {
           bind(library_, "hipMalloc", to.malloc),
           bind(library_, "hipFree", to.free),
           bind(library_, "hipHostMalloc", to.host_malloc),
           bind(library_, "hipHostFree", to.host_free),
           bind(library_, "hipMemGetInfo", to.mem_get_info),
           bind(library_, "hipMemcpy", to.memcpy),
           bind(library_, "hipMemcpyAsync", to.memcpy_async),
           bind(library_, "hipMemsetAsync", to.memset_async),
           bind(library_, "hipModuleLaunchKernel", to.own.launch),
           bind(library_, "hipFuncGetAttribute", to.own.get_attribute),
       }) {
    if (!bound) { return bound; }
  }
  to.application = to.own;
  return {};
}

Status HipLibrary::bind_own() {
  Functions& to = functions;
  for (const Status& bound : {
           library_.bind("hipRuntimeGetVersion", to.runtime_get_version),
           library_.bind("hipGetDeviceCount", to.get_device_count),
           library_.bind("hipDeviceGetAttribute", to.device_get_attribute),
           library_.bind("hipDeviceTotalMem", to.device_total_mem),
           library_.bind("hipDeviceGetPCIBusId", to.device_get_pci_bus_id),
           library_.bind("hipExtStreamCreateWithCUMask", to.ext_stream_create_with_cu_mask),
           library_.bind("hipStreamWaitValue64", to.stream_wait_value64),
           library_.bind("hipExtMallocWithFlags", to.ext_malloc_with_flags),
           library_.bind("hipModuleLoadData", to.module_load_data),
           library_.bind("hipModuleUnload", to.module_unload),
           library_.bind("hipModuleGetFunction", to.module_get_function),
       }) {
    if (!bound) { return bound; }
  }
  return {};
}

/// A runtime of ROCm 6 still has the older function, with the older layout, for programs built before.
Status HipLibrary::bind_properties() {
  if (library_.bind(kProperties6.function, functions.get_device_properties)) { return {}; }
  properties_ = &kProperties5;
  return library_.bind(kProperties5.function, functions.get_device_properties);
}

Result<int> HipLibrary::attribute(DeviceAttribute which, int device) const {
  int value = 0;
  if (Status asked =
          runtime_.check(functions.device_get_attribute(&value, static_cast<int>(which), device), "hipDeviceGetAttribute");
      !asked) {
    return asked.error();
  }
  return value;
}

std::string HipLibrary::version() const {
  return fmt::format("{}.{}.{}", generation(), version_ / 100'000 % 100, version_ % 100'000);
}

}  // namespace elbowroom::hip
