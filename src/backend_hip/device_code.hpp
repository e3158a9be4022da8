#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend_hip/handles.hpp"
#include "backend_hip/hip_library.hpp"
#include "backend_hip/hiprtc_library.hpp"
#include "elbowroom/backend/launcher.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::hip {

/// The backend's own kernels, compiled for a device's architecture and loaded on it when one is first asked for, which takes
/// seconds. Used by one thread at a time.
class DeviceCode {
 public:
  /// `targets` as LiveDevices has them.
  DeviceCode(std::shared_ptr<const HipLibrary> hip, std::vector<std::string> targets)
      : hip_(std::move(hip)), targets_(std::move(targets)) {}

  /// Makes `device` current. `unavailable` without a compiler, `failed` when the text does not compile or lacks the kernel.
  Result<HipFunction> function(const std::string& kernel, int device);

  [[nodiscard]] const HipLibrary& hip() const { return *hip_; }

 private:
  Result<const std::string*> code_for(const std::string& target);
  Result<HipModule> module_on(int device);

  std::shared_ptr<const HipLibrary> hip_;
  std::vector<std::string> targets_;
  std::optional<HiprtcLibrary> compiler_;
  std::map<std::string, std::string> code_;  ///< by target; the runtime may refer to it as long as the modules are loaded
  std::map<int, Module> modules_;            ///< by device
};

/// What hipModuleLaunchKernel takes as a kernel's arguments, which must be of exactly its parameters' types.
template <class... Arguments>
std::array<void*, sizeof...(Arguments)> pointers_to(Arguments&... arguments) {
  return {static_cast<void*>(&arguments)...};
}

/// Enqueues one launch on the current device. `arguments` as pointers_to() gives them; `what` begins an error's message.
Status launch(const HipLibrary& hip, HipFunction function, Extent grid, Threads block, Bytes dynamic_shared, HipStream stream,
              std::span<void* const> arguments, const char* what);

}  // namespace elbowroom::hip
