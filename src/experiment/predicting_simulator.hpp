#pragma once

#include <memory>

#include "elbowroom/backend/registry.hpp"

namespace elbowroom::detail {

/// The simulator of a device as its file describes it, or else as the catalog does by its name; without noise.
inline Result<std::unique_ptr<Backend>> predicting_simulator(const DeviceLimits& device) {
  BackendOptions options;
  options.device = device.name;
  if (device.facts != nullptr) { options.described = device; }
  options.predicts = true;
  return open_backend("sim", options);
}

}  // namespace elbowroom::detail
