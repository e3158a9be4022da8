#pragma once

#include <optional>
#include <string_view>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom {

struct Capabilities;
struct DeviceLimits;
struct KernelFootprint;
struct Lane;
struct Launch;
struct Operation;

/// What a backend knows of an operation whose launches it is asked to change. Refers to what the caller keeps.
struct LaunchSite {
  const DeviceLimits& device;
  const Capabilities& can;
  const Operation& operation;
  const KernelFootprint* compute = nullptr;            ///< of a computation; null: a library chooses its kernel
  std::optional<std::string_view> shape_refusal = {};  ///< why padding cannot act on it; absent: it can
};

/// Why no pad acts on a library's kernel, for every backend.
inline constexpr std::string_view kLibraryKernel = "the library launches its own kernel, its shared memory is not ours to pad";

/// Succeeds when every setting of the launch and of its lane can act there. Otherwise the error begins with the name of the control
/// that cannot, and says why. What only one backend knows is its own to ask.
ELBOWROOM_API Status check_launch(const LaunchSite& site, const Launch& launch, const Lane& lane);

}  // namespace elbowroom
