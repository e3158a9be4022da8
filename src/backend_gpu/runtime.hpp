#pragma once

#include <optional>
#include <string_view>
#include <type_traits>

#include "backend_gpu/calls.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::gpu {

/// A vendor's runtime: its table, and what is asked of every call. Lives until the process ends, so that handles may outlive all
/// else.
class Runtime {
 public:
  explicit Runtime(const RuntimeCalls& filled) : calls(filled) {}

  /// Calls the function and names it where it fails.
  template <class... Parameters>
  [[nodiscard]] Status call(const Call<Parameters...>& call, std::type_identity_t<Parameters>... arguments) const {
    return check(call.function(arguments...), call.name);
  }

  /// Turns a return code into a Status that names the call and what the runtime says of the code.
  [[nodiscard]] Status check(int code, std::string_view call) const;

  /// Makes `device` the calling thread's current one; cheap when it already is.
  [[nodiscard]] Status use_device(int device) const { return call(calls.set_device, device); }

  RuntimeCalls calls;
};

/// A scope in which the calling thread's current device may be changed: it is the one that it was when the scope ends.
class DeviceScope {
 public:
  explicit DeviceScope(const Runtime& runtime);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  const Runtime& runtime_;
  std::optional<int> device_;  ///< absent where the runtime did not say
};

}  // namespace elbowroom::gpu
