#include <cstddef>

#include "backend_hip/hip_abi.hpp"
#include "backend_hip/hip_library.hpp"
#include "same_call.hpp"

// The backend's own declarations against the headers of a real ROCm. Compiling is the test.

namespace {

namespace abi = elbowroom::hip;
using Calls = elbowroom::hip::HipLibrary::Functions;

#define SAME_CALL(ours, theirs) static_assert(same_call<decltype(Calls::ours), decltype(&theirs)>)

SAME_CALL(get_error_string, hipGetErrorString);
SAME_CALL(get_error_name, hipGetErrorName);
SAME_CALL(get_last_error, hipGetLastError);
SAME_CALL(runtime_get_version, hipRuntimeGetVersion);
SAME_CALL(get_device_count, hipGetDeviceCount);
SAME_CALL(set_device, hipSetDevice);
SAME_CALL(device_get_attribute, hipDeviceGetAttribute);
SAME_CALL(get_device_properties, hipGetDeviceProperties);
SAME_CALL(device_total_mem, hipDeviceTotalMem);
SAME_CALL(device_synchronize, hipDeviceSynchronize);
SAME_CALL(device_get_stream_priority_range, hipDeviceGetStreamPriorityRange);
SAME_CALL(stream_create_with_priority, hipStreamCreateWithPriority);
SAME_CALL(ext_stream_create_with_cu_mask, hipExtStreamCreateWithCUMask);
SAME_CALL(stream_destroy, hipStreamDestroy);
SAME_CALL(stream_synchronize, hipStreamSynchronize);
SAME_CALL(stream_wait_event, hipStreamWaitEvent);
SAME_CALL(stream_wait_value64, hipStreamWaitValue64);
SAME_CALL(event_create_with_flags, hipEventCreateWithFlags);
SAME_CALL(event_destroy, hipEventDestroy);
SAME_CALL(event_record, hipEventRecord);
SAME_CALL(event_query, hipEventQuery);
SAME_CALL(event_elapsed_time, hipEventElapsedTime);
SAME_CALL(malloc, hipMalloc);
SAME_CALL(free, hipFree);
SAME_CALL(host_malloc, hipHostMalloc);
SAME_CALL(host_free, hipHostFree);
SAME_CALL(ext_malloc_with_flags, hipExtMallocWithFlags);
SAME_CALL(mem_get_info, hipMemGetInfo);
SAME_CALL(memcpy, hipMemcpy);
SAME_CALL(memset_async, hipMemsetAsync);
SAME_CALL(module_load_data, hipModuleLoadData);
SAME_CALL(module_unload, hipModuleUnload);
SAME_CALL(module_get_function, hipModuleGetFunction);
SAME_CALL(module_launch_kernel, hipModuleLaunchKernel);
SAME_CALL(func_get_attribute, hipFuncGetAttribute);

SAME_VALUE(abi::kHipSuccess, hipSuccess);
SAME_VALUE(abi::kHipErrorOutOfMemory, hipErrorOutOfMemory);
SAME_VALUE(abi::kHipErrorNoDevice, hipErrorNoDevice);
SAME_VALUE(abi::kHipErrorNotReady, hipErrorNotReady);
SAME_VALUE(abi::kHipStreamNonBlocking, hipStreamNonBlocking);
SAME_VALUE(abi::kHipEventDefault, hipEventDefault);
SAME_VALUE(abi::kHipEventDisableTiming, hipEventDisableTiming);
SAME_VALUE(abi::kHipHostMallocPortable, hipHostMallocPortable);
SAME_VALUE(abi::kHipHostMallocMapped, hipHostMallocMapped);
SAME_VALUE(abi::kHipMallocSignalMemory, hipMallocSignalMemory);
SAME_VALUE(abi::kHipStreamWaitValueGte, hipStreamWaitValueGte);
SAME_VALUE(abi::kHipMemcpyHostToDevice, hipMemcpyHostToDevice);
SAME_VALUE(abi::kHipMemcpyDeviceToHost, hipMemcpyDeviceToHost);
SAME_VALUE(abi::DeviceAttribute::max_threads_per_block, hipDeviceAttributeMaxThreadsPerBlock);
SAME_VALUE(abi::DeviceAttribute::max_threads_per_cu, hipDeviceAttributeMaxThreadsPerMultiProcessor);
SAME_VALUE(abi::DeviceAttribute::compute_units, hipDeviceAttributeMultiprocessorCount);
SAME_VALUE(abi::DeviceAttribute::max_shared_per_block, hipDeviceAttributeMaxSharedMemoryPerBlock);
SAME_VALUE(abi::DeviceAttribute::warp_size, hipDeviceAttributeWarpSize);
SAME_VALUE(abi::DeviceAttribute::max_shared_per_cu, hipDeviceAttributeMaxSharedMemoryPerMultiprocessor);
SAME_VALUE(abi::DeviceAttribute::can_use_stream_wait_value, hipDeviceAttributeCanUseStreamWaitValue);
#if HIP_VERSION >= 50300000
SAME_VALUE(abi::DeviceAttribute::wall_clock_rate, hipDeviceAttributeWallClockRate);
#endif
SAME_VALUE(abi::FunctionAttribute::static_shared, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME_VALUE(abi::FunctionAttribute::registers, HIP_FUNC_ATTRIBUTE_NUM_REGS);

#if HIP_VERSION >= 60000000
constexpr abi::PropertiesLayout kProperties = abi::kProperties6;
#else
constexpr abi::PropertiesLayout kProperties = abi::kProperties5;
#endif
static_assert(offsetof(hipDeviceProp_t, name) == kProperties.name);
static_assert(offsetof(hipDeviceProp_t, gcnArchName) == kProperties.architecture);
static_assert(sizeof(hipDeviceProp_t::gcnArchName) == abi::kPropertiesText &&
              sizeof(hipDeviceProp_t::name) == abi::kPropertiesText);
static_assert(sizeof(hipDeviceProp_t) <= abi::kPropertiesRoom);

}  // namespace
