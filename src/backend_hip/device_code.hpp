#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "backend_gpu/handles.hpp"
#include "backend_hip/hip_library.hpp"
#include "backend_hip/hiprtc_library.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::hip {

using Module = std::unique_ptr<std::remove_pointer_t<HipModule>, gpu::Release<HipModule>>;

/// The backend's own kernels, compiled for a device's architecture and loaded on it when one is first asked for, which takes
/// seconds. Used by one thread at a time.
class DeviceCode {
 public:
  /// `targets` as LiveDevices has them.
  DeviceCode(std::shared_ptr<const HipLibrary> hip, std::vector<std::string> targets)
      : hip_(std::move(hip)), targets_(std::move(targets)) {}

  /// Makes `device` current. `unavailable` without a compiler, `failed` when the text does not compile or lacks the kernel.
  Result<gpu::Function> function(const std::string& kernel, int device);

 private:
  Result<const std::string*> code_for(const std::string& target);
  Result<HipModule> module_on(int device);

  std::shared_ptr<const HipLibrary> hip_;
  std::vector<std::string> targets_;
  std::optional<HiprtcLibrary> compiler_;
  std::map<std::string, std::string> code_;  ///< by target; the runtime may refer to it as long as the modules are loaded
  std::map<int, Module> modules_;            ///< by device
};

}  // namespace elbowroom::hip
