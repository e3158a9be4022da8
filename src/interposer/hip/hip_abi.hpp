#pragma once

#include <cstddef>
#include <cstdint>

/// The part of the HIP runtime's binary interface that the interposer touches, declared here so that the library builds without
/// ROCm. Handles are distinct pointer types, so that a stream is never passed for an event.
namespace elbowroom::interposer::hip {

using Result = int;
inline constexpr Result kSuccess = 0;
inline constexpr Result kErrorNotInitialized = 3;
inline constexpr Result kErrorInvalidHandle = 400;
inline constexpr Result kErrorNotReady = 600;

using Stream = struct ihipStream_t*;
using ExecutionContext = struct ihipExecutionCtx_t*;
using Event = struct ihipEvent_t*;
using Function = struct ihipModuleSymbol_t*;
using Module = struct ihipModule_t*;
using Library = struct ihipLibrary_t*;
using Context = struct ihipCtx_t*;
using Graph = struct ihipGraph*;
using GraphNode = struct hipGraphNode*;
using GraphExec = struct hipGraphExec*;
using Device = int;

// Special stream handles; 0 is the legacy default stream, or the calling thread's own in a _spt entry point.
inline constexpr std::uintptr_t kStreamLegacy = 1;
inline constexpr std::uintptr_t kStreamPerThread = 2;

inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDisableTiming = 2;

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
};

enum FunctionAttribute : int {
  kFuncMaxThreadsPerBlock = 0,
  kFuncSharedSizeBytes = 1,
  kFuncNumRegs = 4,
  kFuncMaxDynamicSharedSizeBytes = 8,
};

/// Of a kernel that the program names by its host function.
struct FuncAttributes {
  int binary_version;
  int cache_mode_ca;
  std::size_t const_bytes;
  std::size_t local_bytes;
  int max_dynamic_shared_bytes;
  int max_threads_per_block;
  int registers;
  int preferred_carveout;
  int ptx_version;
  std::size_t shared_bytes;
};

enum DeviceAttribute : int {
  kDeviceMultiprocessorCount = 63,
  kDeviceMaxSharedMemoryPerBlock = 74,
  kDeviceMaxSharedMemoryPerMultiprocessor = 10002,
};

enum CaptureMode : int { kCaptureModeGlobal = 0, kCaptureModeThreadLocal = 1, kCaptureModeRelaxed = 2 };
inline constexpr int kCaptureNone = 0;  // of the state of a stream

/// hipLaunchParams, of the calls that launch on several devices at once.
struct LaunchParams {
  void* function;
  Dim3 grid;
  Dim3 block;
  void** arguments;
  std::size_t shared_bytes;
  Stream stream;
};

enum LaunchAttributeId : int { kLaunchCooperative = 2, kLaunchPriority = 8 };

union LaunchAttributeValue {
  char pad[64];
  int cooperative;
  int priority;
};

struct LaunchAttribute {
  LaunchAttributeId id;
  char pad[4];
  LaunchAttributeValue value;
};

/// hipLaunchConfig_t, of hipLaunchKernelExC.
struct LaunchConfig {
  Dim3 grid;
  Dim3 block;
  std::size_t shared_bytes;
  Stream stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

/// HIP_LAUNCH_CONFIG, of hipDrvLaunchKernelEx.
struct ModuleLaunchConfig {
  unsigned grid_x, grid_y, grid_z;
  unsigned block_x, block_y, block_z;
  unsigned shared_bytes;
  Stream stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

}  // namespace elbowroom::interposer::hip
