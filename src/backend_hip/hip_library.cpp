#include "backend_hip/hip_library.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "elbowroom/base/environment.hpp"

namespace elbowroom::hip {

Result<std::shared_ptr<const HipLibrary>> HipLibrary::load() {
  std::vector<std::string> names{"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"};
  if (const auto chosen = read(kHipLibrary)) names = {*chosen};
  auto library = elbowroom::detail::DynamicLibrary::open(names);
  if (!library) return unavailable(fmt::format("HIP: {}; set {} to its path", library.error().message, kHipLibrary.name));
  library->keep_loaded();

  std::shared_ptr<HipLibrary> hip(new HipLibrary(std::move(*library)));
  for (const Status& bound : {hip->bind_all(), hip->bind_memory(), hip->bind_properties()}) {
    if (!bound) return unavailable(fmt::format("HIP: {}, expected ROCm 5 or later", bound.error().message));
  }
  if (hip->functions.runtime_get_version(&hip->version_) != kHipSuccess) hip->version_ = 0;
  return std::shared_ptr<const HipLibrary>(std::move(hip));
}

Status HipLibrary::bind_all() {
  Functions& to = functions;
  for (const Status& bound : {
           library_.bind("hipGetErrorString", to.get_error_string),
           library_.bind("hipGetErrorName", to.get_error_name),
           library_.bind("hipGetLastError", to.get_last_error),
           library_.bind("hipRuntimeGetVersion", to.runtime_get_version),
           library_.bind("hipGetDeviceCount", to.get_device_count),
           library_.bind("hipSetDevice", to.set_device),
           library_.bind("hipDeviceGetAttribute", to.device_get_attribute),
           library_.bind("hipDeviceTotalMem", to.device_total_mem),
           library_.bind("hipDeviceSynchronize", to.device_synchronize),
           library_.bind("hipDeviceGetStreamPriorityRange", to.device_get_stream_priority_range),
           library_.bind("hipStreamCreateWithPriority", to.stream_create_with_priority),
           library_.bind("hipExtStreamCreateWithCUMask", to.ext_stream_create_with_cu_mask),
           library_.bind("hipStreamDestroy", to.stream_destroy),
           library_.bind("hipStreamSynchronize", to.stream_synchronize),
           library_.bind("hipStreamWaitEvent", to.stream_wait_event),
           library_.bind("hipStreamWaitValue64", to.stream_wait_value64),
           library_.bind("hipEventCreateWithFlags", to.event_create_with_flags),
           library_.bind("hipEventDestroy", to.event_destroy),
           library_.bind("hipEventRecord", to.event_record),
           library_.bind("hipEventQuery", to.event_query),
           library_.bind("hipEventElapsedTime", to.event_elapsed_time),
       }) {
    if (!bound) return bound;
  }
  return {};
}

Status HipLibrary::bind_memory() {
  Functions& to = functions;
  for (const Status& bound : {
           library_.bind("hipMalloc", to.malloc),
           library_.bind("hipFree", to.free),
           library_.bind("hipHostMalloc", to.host_malloc),
           library_.bind("hipHostFree", to.host_free),
           library_.bind("hipExtMallocWithFlags", to.ext_malloc_with_flags),
           library_.bind("hipMemGetInfo", to.mem_get_info),
           library_.bind("hipMemcpy", to.memcpy),
           library_.bind("hipMemsetAsync", to.memset_async),
           library_.bind("hipModuleLoadData", to.module_load_data),
           library_.bind("hipModuleUnload", to.module_unload),
           library_.bind("hipModuleGetFunction", to.module_get_function),
           library_.bind("hipModuleLaunchKernel", to.module_launch_kernel),
           library_.bind("hipFuncGetAttribute", to.func_get_attribute),
       }) {
    if (!bound) return bound;
  }
  return {};
}

/// A runtime of ROCm 6 still has the older function, with the older layout, for programs built before.
Status HipLibrary::bind_properties() {
  if (library_.bind(kProperties6.function, functions.get_device_properties)) return {};
  properties_ = &kProperties5;
  return library_.bind(kProperties5.function, functions.get_device_properties);
}

Status HipLibrary::check(int code, const char* call) const {
  if (code == kHipSuccess) return {};
  return failed(fmt::format("{} failed: {} ({})", call, functions.get_error_string(code), functions.get_error_name(code)));
}

Result<int> HipLibrary::attribute(DeviceAttribute which, int device) const {
  int value = 0;
  if (Status asked = check(functions.device_get_attribute(&value, static_cast<int>(which), device), "hipDeviceGetAttribute");
      !asked) {
    return asked.error();
  }
  return value;
}

std::string HipLibrary::version() const {
  return fmt::format("{}.{}.{}", generation(), version_ / 100'000 % 100, version_ % 100'000);
}

}  // namespace elbowroom::hip
