#pragma once

#include <string_view>
#include <type_traits>

#include "backend_gpu/calls.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::gpu {

/// A vendor's runtime: its table, and what is asked of every call. Lives until the process ends, so that handles may outlive all else.
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

}  // namespace elbowroom::gpu
