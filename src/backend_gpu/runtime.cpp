#include "backend_gpu/runtime.hpp"

#include <fmt/format.h>

namespace elbowroom::gpu {

Status Runtime::check(int code, std::string_view call) const {
  if (code == kSuccess) { return {}; }
  return failed(fmt::format("{} failed: {} ({})", call, calls.get_error_string(code), calls.get_error_name(code)));
}

DeviceScope::DeviceScope(const Runtime& runtime) : runtime_(runtime) {
  int device = 0;
  if (runtime_.calls.get_device.function(&device) == kSuccess) { device_ = device; }
}

DeviceScope::~DeviceScope() {
  // A destructor has nobody to report an error to.
  if (device_) { static_cast<void>(runtime_.calls.set_device.function(*device_)); }
}

}  // namespace elbowroom::gpu
