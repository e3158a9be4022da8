#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "backend_cuda/cuda_calls.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::cuda {

/// Finds a function of the driver by name: linking the driver library would keep the program from starting where there is none.
/// `since` is the CUDA version, 1000 * major + 10 * minor, that gave the function the form of `Function`.
template <class Function>
Status driver_entry(const char* name, Function*& function, unsigned since = 12'000) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  if (Status asked = check(cudaGetDriverEntryPointByVersion(name, &entry, since, cudaEnableDefault, &found),
                           "cudaGetDriverEntryPointByVersion");
      !asked) {
    return asked;
  }
  if (entry == nullptr || found != cudaDriverEntryPointSuccess) { return unavailable(std::string("the driver has no ") + name); }
  function = reinterpret_cast<Function*>(entry);
  return {};
}

/// The same for a function of a table. The driver's errors have the numbers and words of the runtime's.
template <class... Parameters>
Status driver_entry(const char* name, gpu::Call<Parameters...>& call) {
  call.name = name;
  return driver_entry(name, call.function);
}

}  // namespace elbowroom::cuda
