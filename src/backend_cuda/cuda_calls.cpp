#include "backend_cuda/cuda_calls.hpp"

#include <cuda.h>

#include <type_traits>

#include "backend_cuda/driver_entry.hpp"

namespace elbowroom::cuda {
namespace {

template <class Theirs, class Ours>
Theirs converted(Ours ours) {
  if constexpr (std::is_convertible_v<Ours, Theirs>) {
    return ours;
  } else if constexpr (std::is_enum_v<Theirs>) {
    return static_cast<Theirs>(ours);
  } else {
    return reinterpret_cast<Theirs>(ours);
  }
}

template <auto kFunction>
struct Adapter;
template <class... Theirs, cudaError_t (*kFunction)(Theirs...)>
struct Adapter<kFunction> {
  template <class... Ours>
  static int call(Ours... ours) {
    return static_cast<int>(kFunction(converted<Theirs>(ours)...));
  }
};

/// Makes a function of the runtime one of the table, whose handles have other types.
template <auto kFunction, class... Ours>
void adapt(const char* name, gpu::Call<Ours...>& call) {
  call = {name, &Adapter<kFunction>::template call<Ours...>};
}

// The numbers of the table are those of CUDA.
static_assert(cudaSuccess == gpu::kSuccess && cudaErrorMemoryAllocation == gpu::kErrorOutOfMemory &&
              cudaErrorNotReady == gpu::kErrorNotReady);
static_assert(cudaStreamNonBlocking == gpu::kStreamNonBlocking && cudaEventDefault == gpu::kEventDefault &&
              cudaEventDisableTiming == gpu::kEventDisableTiming && cudaHostAllocPortable == gpu::kHostPortable &&
              cudaHostAllocMapped == gpu::kHostMapped);
static_assert(cudaMemcpyHostToDevice == gpu::kHostToDevice && cudaMemcpyDeviceToHost == gpu::kDeviceToHost &&
              cudaMemcpyDeviceToDevice == gpu::kDeviceToDevice);
static_assert(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES == static_cast<int>(gpu::FunctionAttribute::static_shared) &&
              CU_FUNC_ATTRIBUTE_NUM_REGS == static_cast<int>(gpu::FunctionAttribute::registers) &&
              CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES == static_cast<int>(gpu::FunctionAttribute::max_dynamic_shared) &&
              CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT == static_cast<int>(gpu::FunctionAttribute::carveout) &&
              CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH == static_cast<int>(gpu::FunctionAttribute::cluster_width) &&
              CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT == static_cast<int>(gpu::FunctionAttribute::cluster_height) &&
              CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH == static_cast<int>(gpu::FunctionAttribute::cluster_depth) &&
              cudaFuncAttributeMaxDynamicSharedMemorySize == static_cast<int>(gpu::FunctionAttribute::max_dynamic_shared));

/// A kernel of this project is known by its symbol, the same on every device.
const void* symbol(gpu::Function function) { return function; }

int get_attribute(int* value, int which, gpu::Function function) {
  cudaFuncAttributes attributes{};
  const cudaError_t code = cudaFuncGetAttributes(&attributes, symbol(function));
  switch (static_cast<gpu::FunctionAttribute>(which)) {
    case gpu::FunctionAttribute::static_shared:
      *value = static_cast<int>(attributes.sharedSizeBytes);
      break;
    case gpu::FunctionAttribute::registers:
      *value = attributes.numRegs;
      break;
    case gpu::FunctionAttribute::max_dynamic_shared:
      *value = attributes.maxDynamicSharedSizeBytes;
      break;
    default:
      return static_cast<int>(cudaErrorInvalidValue);
  }
  return static_cast<int>(code);
}

int set_attribute(gpu::Function function, int which, int value) {
  return static_cast<int>(cudaFuncSetAttribute(symbol(function), static_cast<cudaFuncAttribute>(which), value));
}

cudaLaunchConfig_t config_of(dim3 grid, dim3 block, unsigned shared, gpu::StreamHandle stream) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared;
  config.stream = native(stream);
  return config;
}

int launch(gpu::Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
           unsigned block_z, unsigned shared, gpu::StreamHandle stream, void** arguments, void**) {
  const cudaLaunchConfig_t config = config_of({grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, stream);
  return static_cast<int>(cudaLaunchKernelExC(&config, symbol(function), arguments));
}

int launch_with_carveout(gpu::Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                         unsigned block_y, unsigned block_z, unsigned shared, gpu::StreamHandle stream, void** arguments,
                         int percent) {
  cudaLaunchConfig_t config = config_of({grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, stream);
  cudaLaunchAttribute carveout{};
  carveout.id = cudaLaunchAttributePreferredSharedMemoryCarveout;
  carveout.val.sharedMemCarveout = static_cast<unsigned>(percent);
  config.attrs = &carveout;
  config.numAttrs = 1;
  return static_cast<int>(cudaLaunchKernelExC(&config, symbol(function), arguments));
}

gpu::RuntimeCalls linked_calls() {
  gpu::RuntimeCalls to;
  to.get_error_string = [](int code) { return cudaGetErrorString(static_cast<cudaError_t>(code)); };
  to.get_error_name = [](int code) { return cudaGetErrorName(static_cast<cudaError_t>(code)); };
  adapt<&cudaGetLastError>("cudaGetLastError", to.get_last_error);
  adapt<&cudaGetDevice>("cudaGetDevice", to.get_device);
  adapt<&cudaSetDevice>("cudaSetDevice", to.set_device);
  adapt<&cudaDeviceSynchronize>("cudaDeviceSynchronize", to.device_synchronize);
  adapt<&cudaDeviceGetStreamPriorityRange>("cudaDeviceGetStreamPriorityRange", to.device_get_stream_priority_range);
  adapt<&cudaStreamCreateWithPriority>("cudaStreamCreateWithPriority", to.stream_create_with_priority);
  adapt<&cudaStreamDestroy>("cudaStreamDestroy", to.stream_destroy);
  adapt<&cudaStreamGetPriority>("cudaStreamGetPriority", to.stream_get_priority);
  adapt<&cudaStreamSynchronize>("cudaStreamSynchronize", to.stream_synchronize);
  adapt<&cudaStreamWaitEvent>("cudaStreamWaitEvent", to.stream_wait_event);
  adapt<&cudaEventCreateWithFlags>("cudaEventCreateWithFlags", to.event_create_with_flags);
  adapt<&cudaEventDestroy>("cudaEventDestroy", to.event_destroy);
  adapt<&cudaEventRecord>("cudaEventRecord", to.event_record);
  adapt<&cudaEventQuery>("cudaEventQuery", to.event_query);
  adapt<&cudaEventElapsedTime>("cudaEventElapsedTime", to.event_elapsed_time);
  adapt<&cudaMalloc>("cudaMalloc", to.malloc);
  adapt<&cudaFree>("cudaFree", to.free);
  adapt<&cudaHostAlloc>("cudaHostAlloc", to.host_malloc);
  adapt<&cudaFreeHost>("cudaFreeHost", to.host_free);
  adapt<&cudaMemGetInfo>("cudaMemGetInfo", to.mem_get_info);
  adapt<&cudaMemcpy>("cudaMemcpy", to.memcpy);
  adapt<&cudaMemcpyAsync>("cudaMemcpyAsync", to.memcpy_async);
  adapt<&cudaMemsetAsync>("cudaMemsetAsync", to.memset_async);
  to.own.get_attribute = {"cudaFuncGetAttributes", &get_attribute};
  to.own.set_attribute = {"cudaFuncSetAttribute", &set_attribute};
  to.own.launch = {"cudaLaunchKernelExC", &launch};
  to.launch_with_carveout = {"cudaLaunchKernelExC", &launch_with_carveout};
  return to;
}

}  // namespace

const gpu::Runtime& linked_runtime() {
  static const gpu::Runtime runtime(linked_calls());
  return runtime;
}

Status find_application_calls(gpu::KernelCalls& application) {
  for (const Status& found : {
           driver_entry("cuFuncGetAttribute", application.get_attribute),
           driver_entry("cuFuncSetAttribute", application.set_attribute),
           driver_entry("cuLaunchKernel", application.launch),
       }) {
    if (!found) { return found; }
  }
  return {};
}

}  // namespace elbowroom::cuda
