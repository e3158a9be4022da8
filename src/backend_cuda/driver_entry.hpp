#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "backend_cuda/handles.hpp"
#include "headroom/base/result.hpp"

namespace headroom::cuda {

/// Finds a function of the driver by name: linking the driver library would keep the program from starting where there is none.
template <class Function>
Status driver_entry(const char* name, Function*& function) {
  // The entry points that Headroom calls have had their form since CUDA 12.0 at the latest.
  constexpr unsigned kSince = 12'000;
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  if (Status asked = check(cudaGetDriverEntryPointByVersion(name, &entry, kSince, cudaEnableDefault, &found),
                           "cudaGetDriverEntryPointByVersion");
      !asked) {
    return asked;
  }
  if (entry == nullptr || found != cudaDriverEntryPointSuccess) return unavailable(std::string("the driver has no ") + name);
  function = reinterpret_cast<Function*>(entry);
  return {};
}

}  // namespace headroom::cuda
