#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "elbowroom/backend/registry.hpp"

namespace elbowroom::testing {

/// The CUDA backend with at least `gpus` devices; null with the test marked as skipped where there is none.
inline std::unique_ptr<Backend> live_backend(int gpus, BackendOptions options = {}) {
  Result<std::unique_ptr<Backend>> backend = open_backend("cuda", options);
  if (!backend) {
    [&] { GTEST_SKIP() << backend.error().message; }();
    return nullptr;
  }
  if (static_cast<int>((*backend)->devices().size()) < gpus) {
    [&] { GTEST_SKIP() << "needs " << gpus << " GPUs, here are " << (*backend)->devices().size(); }();
    return nullptr;
  }
  return std::move(*backend);
}

/// True: its matrix units multiply e4m3.
inline bool has_e4m3(const Backend& backend) { return std::stoi(backend.devices().front().limits.architecture.substr(3)) >= 89; }

}  // namespace elbowroom::testing
