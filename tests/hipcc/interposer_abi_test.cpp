#include <cstddef>

#include "interposer/hip/runtime_calls.hpp"
#include "same_call.hpp"
#include "values.hpp"
// hooked_functions.hpp with each name in a form of its own, as both cannot be declared with types that differ.
#include "hooked_functions_renamed.hpp"

// The interposer's own declarations against the headers of a real ROCm. Compiling is the test; what this ROCm does not have yet is
// left out, by the list that CMake makes of its headers.

namespace {

namespace abi = elbowroom::interposer::hip;
using Calls = elbowroom::interposer::hip::RuntimeCalls;

#define SAME_HOOK(ours, theirs) static_assert(same_call<decltype(&ours), decltype(&theirs)>);
#define SAME_CALL(ours, theirs) static_assert(same_call<decltype(Calls::ours), decltype(&theirs)>);
#include "interposer_calls.inc"

// For functions that C++ has templates of under the same name.
#define SAME_AS(ours, theirs, ...) static_assert(same_call<ours, decltype(static_cast<hipError_t (*)(__VA_ARGS__)>(&theirs))>)
SAME_AS(decltype(&ours_hipLaunchCooperativeKernel), hipLaunchCooperativeKernel, const void*, dim3, dim3, void**, unsigned,
        hipStream_t);
SAME_AS(decltype(&ours_hipLaunchCooperativeKernelMultiDevice), hipLaunchCooperativeKernelMultiDevice, hipLaunchParams*, int,
        unsigned);
SAME_AS(decltype(&ours_hipExtLaunchMultiKernelMultiDevice), hipExtLaunchMultiKernelMultiDevice, hipLaunchParams*, int, unsigned);
SAME_AS(decltype(Calls::occupancy), hipOccupancyMaxActiveBlocksPerMultiprocessor, int*, const void*, int, std::size_t);

#define SAME_PLACE(ours, our_field, theirs, their_field) \
  static_assert(offsetof(abi::ours, our_field) == offsetof(theirs, their_field))
#define SAME_SIZE(ours, theirs) static_assert(sizeof(abi::ours) == sizeof(theirs))

SAME_SIZE(Dim3, dim3);
SAME_SIZE(FuncAttributes, hipFuncAttributes);
SAME_PLACE(FuncAttributes, max_dynamic_shared_bytes, hipFuncAttributes, maxDynamicSharedSizeBytes);
SAME_PLACE(FuncAttributes, max_threads_per_block, hipFuncAttributes, maxThreadsPerBlock);
SAME_PLACE(FuncAttributes, registers, hipFuncAttributes, numRegs);
SAME_PLACE(FuncAttributes, shared_bytes, hipFuncAttributes, sharedSizeBytes);
SAME_SIZE(LaunchParams, hipLaunchParams);
SAME_PLACE(LaunchParams, block, hipLaunchParams, blockDim);
SAME_PLACE(LaunchParams, arguments, hipLaunchParams, args);
SAME_PLACE(LaunchParams, shared_bytes, hipLaunchParams, sharedMem);
SAME_PLACE(LaunchParams, stream, hipLaunchParams, stream);
SAME_SIZE(KernelNodeParams, hipKernelNodeParams);
SAME_PLACE(KernelNodeParams, extra, hipKernelNodeParams, extra);
SAME_PLACE(KernelNodeParams, function, hipKernelNodeParams, func);
SAME_PLACE(KernelNodeParams, grid, hipKernelNodeParams, gridDim);
SAME_PLACE(KernelNodeParams, parameters, hipKernelNodeParams, kernelParams);
SAME_PLACE(KernelNodeParams, shared_bytes, hipKernelNodeParams, sharedMemBytes);

SAME_VALUE(abi::kSuccess, hipSuccess);
SAME_VALUE(abi::kErrorInvalidValue, hipErrorInvalidValue);
SAME_VALUE(abi::kErrorOutOfMemory, hipErrorOutOfMemory);
SAME_VALUE(abi::kErrorNotInitialized, hipErrorNotInitialized);
SAME_VALUE(abi::kErrorInvalidDeviceFunction, hipErrorInvalidDeviceFunction);
SAME_VALUE(abi::kErrorNoDevice, hipErrorNoDevice);
SAME_VALUE(abi::kErrorInvalidDevice, hipErrorInvalidDevice);
SAME_VALUE(abi::kErrorInvalidImage, hipErrorInvalidImage);
SAME_VALUE(abi::kErrorInvalidHandle, hipErrorInvalidHandle);
SAME_VALUE(abi::kErrorNotFound, hipErrorNotFound);
SAME_VALUE(abi::kErrorNotReady, hipErrorNotReady);
SAME_VALUE(abi::kErrorLaunchOutOfResources, hipErrorLaunchOutOfResources);
SAME_VALUE(abi::kErrorCooperativeLaunchTooLarge, hipErrorCooperativeLaunchTooLarge);
SAME_VALUE(abi::kErrorNotSupported, hipErrorNotSupported);
SAME_VALUE(abi::kErrorCaptureUnsupported, hipErrorStreamCaptureUnsupported);
SAME_VALUE(abi::kErrorCaptureInvalidated, hipErrorStreamCaptureInvalidated);
SAME_VALUE(abi::kErrorCapturedEvent, hipErrorCapturedEvent);
SAME_VALUE(abi::kStreamNonBlocking, hipStreamNonBlocking);
SAME_VALUE(abi::kEventDisableTiming, hipEventDisableTiming);
static_assert(abi::kStreamPerThread == 2);  // hipStreamPerThread, a cast that no constant expression may have
SAME_VALUE(abi::kMemcpyHostToDevice, hipMemcpyHostToDevice);
SAME_VALUE(abi::kMemcpyDeviceToHost, hipMemcpyDeviceToHost);
SAME_VALUE(abi::kFuncMaxThreadsPerBlock, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME_VALUE(abi::kFuncSharedSizeBytes, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME_VALUE(abi::kFuncNumRegs, HIP_FUNC_ATTRIBUTE_NUM_REGS);
SAME_VALUE(abi::kFuncMaxDynamicSharedSizeBytes, HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME_VALUE(abi::kDeviceMultiprocessorCount, hipDeviceAttributeMultiprocessorCount);
SAME_VALUE(abi::kDeviceMaxSharedMemoryPerBlock, hipDeviceAttributeMaxSharedMemoryPerBlock);
SAME_VALUE(abi::kDeviceMaxSharedMemoryPerMultiprocessor, hipDeviceAttributeMaxSharedMemoryPerMultiprocessor);
SAME_VALUE(abi::kCaptureModeGlobal, hipStreamCaptureModeGlobal);
SAME_VALUE(abi::kCaptureModeThreadLocal, hipStreamCaptureModeThreadLocal);
SAME_VALUE(abi::kCaptureModeRelaxed, hipStreamCaptureModeRelaxed);
SAME_VALUE(abi::kCaptureNone, hipStreamCaptureStatusNone);
#if HIP_VERSION >= 50300000
// Before, they were counted from 1.
SAME_VALUE(abi::kGraphNodeKernel, hipGraphNodeTypeKernel);
SAME_VALUE(abi::kGraphNodeChild, hipGraphNodeTypeGraph);
#endif

#if HIP_VERSION >= 60200000
SAME_SIZE(GraphInstantiateParams, hipGraphInstantiateParams);
SAME_PLACE(GraphInstantiateParams, error_node, hipGraphInstantiateParams, errNode_out);
SAME_PLACE(GraphInstantiateParams, flags, hipGraphInstantiateParams, flags);
SAME_PLACE(GraphInstantiateParams, upload_stream, hipGraphInstantiateParams, uploadStream);
SAME_VALUE(abi::kInstantiateUseNodePriority, hipGraphInstantiateFlagUseNodePriority);
#endif

}  // namespace
