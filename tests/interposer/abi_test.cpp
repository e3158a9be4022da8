#include <cuda.h>

#include <cstddef>

#include "interposer/cuda/driver_abi.hpp"

// The interposer's own declarations against the toolkit's. Compiling is the test.

namespace abi = elbowroom::interposer::cuda::cu;

#define SAME_SIZE(ours, theirs) static_assert(sizeof(abi::ours) == sizeof(theirs))
#define SAME_PLACE(ours, our_field, theirs, their_field) \
  static_assert(offsetof(abi::ours, our_field) == offsetof(theirs, their_field))
#define SAME_VALUE(ours, theirs) static_assert(static_cast<long long>(abi::ours) == static_cast<long long>(theirs))

SAME_SIZE(LaunchAttributeValue, CUlaunchAttributeValue);
SAME_SIZE(LaunchAttribute, CUlaunchAttribute);
SAME_PLACE(LaunchAttribute, id, CUlaunchAttribute, id);
SAME_PLACE(LaunchAttribute, value, CUlaunchAttribute, value);
SAME_PLACE(LaunchAttributeValue, launch_completion_event.event, CUlaunchAttributeValue, launchCompletionEvent.event);
SAME_PLACE(LaunchAttributeValue, launch_completion_event.event, CUlaunchAttributeValue, programmaticEvent.event);
SAME_PLACE(LaunchAttributeValue, launch_completion_event.flags, CUlaunchAttributeValue, launchCompletionEvent.flags);

SAME_SIZE(LaunchConfig, CUlaunchConfig);
SAME_PLACE(LaunchConfig, block_x, CUlaunchConfig, blockDimX);
SAME_PLACE(LaunchConfig, shared_bytes, CUlaunchConfig, sharedMemBytes);
SAME_PLACE(LaunchConfig, stream, CUlaunchConfig, hStream);
SAME_PLACE(LaunchConfig, attributes, CUlaunchConfig, attrs);
SAME_PLACE(LaunchConfig, attribute_count, CUlaunchConfig, numAttrs);

SAME_SIZE(IpcEventHandle, CUipcEventHandle);
SAME_SIZE(GraphEdgeData, CUgraphEdgeData);
SAME_SIZE(GraphInstantiateParams, CUDA_GRAPH_INSTANTIATE_PARAMS);
SAME_PLACE(GraphInstantiateParams, flags, CUDA_GRAPH_INSTANTIATE_PARAMS, flags);

#if CUDA_VERSION >= 12040
static_assert(sizeof(abi::DeviceResource) >= sizeof(CUdevResource));
SAME_PLACE(DeviceResource, sm_count, CUdevResource, sm.smCount);
SAME_VALUE(kDeviceResourceSm, CU_DEV_RESOURCE_TYPE_SM);
#endif

static_assert(sizeof(abi::Result) == sizeof(CUresult) && sizeof(abi::Device) == sizeof(CUdevice));
static_assert(sizeof(abi::DevicePointer) == sizeof(CUdeviceptr));
SAME_VALUE(kSuccess, CUDA_SUCCESS);
SAME_VALUE(kErrorInvalidValue, CUDA_ERROR_INVALID_VALUE);
SAME_VALUE(kErrorInvalidHandle, CUDA_ERROR_INVALID_HANDLE);
SAME_VALUE(kErrorNotReady, CUDA_ERROR_NOT_READY);
SAME_VALUE(kStreamNonBlocking, CU_STREAM_NON_BLOCKING);
SAME_VALUE(kEventDisableTiming, CU_EVENT_DISABLE_TIMING);
SAME_VALUE(kProcAddressLegacyStream, CU_GET_PROC_ADDRESS_LEGACY_STREAM);
SAME_VALUE(kProcAddressPerThreadDefaultStream, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
SAME_VALUE(kFuncMaxThreadsPerBlock, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME_VALUE(kFuncSharedSizeBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME_VALUE(kFuncNumRegs, CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME_VALUE(kFunctionLoaded, CU_FUNCTION_LOADING_STATE_LOADED);
SAME_VALUE(kFuncMaxDynamicSharedSizeBytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME_VALUE(kDeviceMultiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME_VALUE(kDeviceMaxSharedMemoryPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
SAME_VALUE(kDeviceMaxSharedMemoryPerBlockOptin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME_VALUE(kDeviceReservedSharedMemoryPerBlock, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
SAME_VALUE(kCaptureModeRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
SAME_VALUE(kCaptureModeGlobal, CU_STREAM_CAPTURE_MODE_GLOBAL);
SAME_VALUE(kLaunchCooperative, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
SAME_VALUE(kLaunchClusterDimension, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
SAME_VALUE(kLaunchProgrammaticEvent, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT);
SAME_VALUE(kLaunchPriority, CU_LAUNCH_ATTRIBUTE_PRIORITY);
SAME_VALUE(kLaunchCompletionEvent, CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT);
