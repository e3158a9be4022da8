#include <cstddef>

#include "backend_hip/hip_abi.hpp"
#include "backend_hip/hip_library.hpp"
#include "same_call.hpp"

// The backend's own declarations against the headers of a real ROCm. Compiling is the test.

namespace {

namespace abi = elbowroom::hip;
namespace gpu = elbowroom::gpu;
using Calls = elbowroom::gpu::RuntimeCalls;
using OwnCalls = elbowroom::hip::HipLibrary::Functions;

#define SAME_CALL(ours, theirs) static_assert(same_call<decltype(Calls::ours.function), decltype(&theirs)>)
#define SAME_KERNEL_CALL(ours, theirs) \
  static_assert(same_call<decltype(elbowroom::gpu::KernelCalls::ours.function), decltype(&theirs)>)
#define SAME_OWN_CALL(ours, theirs) static_assert(same_call<decltype(OwnCalls::ours), decltype(&theirs)>)

static_assert(same_call<decltype(Calls::get_error_string), decltype(&hipGetErrorString)>);
static_assert(same_call<decltype(Calls::get_error_name), decltype(&hipGetErrorName)>);
SAME_CALL(get_last_error, hipGetLastError);
SAME_OWN_CALL(runtime_get_version, hipRuntimeGetVersion);
SAME_OWN_CALL(get_device_count, hipGetDeviceCount);
SAME_CALL(get_device, hipGetDevice);
SAME_CALL(set_device, hipSetDevice);
SAME_OWN_CALL(device_get_attribute, hipDeviceGetAttribute);
SAME_OWN_CALL(get_device_properties, hipGetDeviceProperties);
SAME_OWN_CALL(device_total_mem, hipDeviceTotalMem);
SAME_OWN_CALL(device_get_pci_bus_id, hipDeviceGetPCIBusId);
SAME_CALL(device_synchronize, hipDeviceSynchronize);
SAME_CALL(device_get_stream_priority_range, hipDeviceGetStreamPriorityRange);
SAME_CALL(stream_create_with_priority, hipStreamCreateWithPriority);
SAME_OWN_CALL(ext_stream_create_with_cu_mask, hipExtStreamCreateWithCUMask);
SAME_CALL(stream_destroy, hipStreamDestroy);
SAME_CALL(stream_synchronize, hipStreamSynchronize);
SAME_CALL(stream_wait_event, hipStreamWaitEvent);
SAME_OWN_CALL(stream_wait_value64, hipStreamWaitValue64);
SAME_CALL(event_create_with_flags, hipEventCreateWithFlags);
SAME_CALL(event_destroy, hipEventDestroy);
SAME_CALL(event_record, hipEventRecord);
SAME_CALL(event_query, hipEventQuery);
SAME_CALL(event_elapsed_time, hipEventElapsedTime);
SAME_CALL(malloc, hipMalloc);
SAME_CALL(free, hipFree);
SAME_CALL(host_malloc, hipHostMalloc);
SAME_CALL(host_free, hipHostFree);
SAME_OWN_CALL(ext_malloc_with_flags, hipExtMallocWithFlags);
SAME_CALL(mem_get_info, hipMemGetInfo);
SAME_CALL(memcpy, hipMemcpy);
SAME_CALL(memcpy_async, hipMemcpyAsync);
SAME_CALL(memset_async, hipMemsetAsync);
SAME_OWN_CALL(module_load_data, hipModuleLoadData);
SAME_OWN_CALL(module_unload, hipModuleUnload);
SAME_OWN_CALL(module_get_function, hipModuleGetFunction);
SAME_KERNEL_CALL(launch, hipModuleLaunchKernel);
SAME_KERNEL_CALL(get_attribute, hipFuncGetAttribute);

SAME_VALUE(gpu::kSuccess, hipSuccess);
SAME_VALUE(gpu::kErrorOutOfMemory, hipErrorOutOfMemory);
SAME_VALUE(abi::kHipErrorNoDevice, hipErrorNoDevice);
SAME_VALUE(gpu::kErrorNotReady, hipErrorNotReady);
SAME_VALUE(gpu::kStreamNonBlocking, hipStreamNonBlocking);
SAME_VALUE(gpu::kEventDefault, hipEventDefault);
SAME_VALUE(gpu::kEventDisableTiming, hipEventDisableTiming);
SAME_VALUE(gpu::kHostPortable, hipHostMallocPortable);
SAME_VALUE(gpu::kHostMapped, hipHostMallocMapped);
SAME_VALUE(abi::kHipMallocSignalMemory, hipMallocSignalMemory);
SAME_VALUE(abi::kHipStreamWaitValueGte, hipStreamWaitValueGte);
SAME_VALUE(gpu::kHostToDevice, hipMemcpyHostToDevice);
SAME_VALUE(gpu::kDeviceToHost, hipMemcpyDeviceToHost);
SAME_VALUE(gpu::kDeviceToDevice, hipMemcpyDeviceToDevice);
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
SAME_VALUE(gpu::FunctionAttribute::static_shared, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME_VALUE(gpu::FunctionAttribute::registers, HIP_FUNC_ATTRIBUTE_NUM_REGS);

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
