#pragma once

#include <cuda_runtime_api.h>

#include "backend_gpu/runtime.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::cuda {

/// The CUDA runtime that is linked in. Of an application's kernels nothing is known yet.
const gpu::Runtime& linked_runtime();

/// An application's kernels may come from another copy of the runtime: theirs are the driver's functions. `unavailable` without
/// them.
Status find_application_calls(gpu::KernelCalls& application);

inline Status check(cudaError_t code, const char* call) { return linked_runtime().check(static_cast<int>(code), call); }

inline cudaStream_t native(gpu::StreamHandle stream) { return reinterpret_cast<cudaStream_t>(stream); }
inline cudaEvent_t native(gpu::EventHandle event) { return reinterpret_cast<cudaEvent_t>(event); }

}  // namespace elbowroom::cuda
