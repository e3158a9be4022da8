#pragma once

#include <cstddef>
#include <cstdint>

/// The part of the HIP runtime's binary interface that the interposer touches, declared here so that the library builds without
/// ROCm. Handles are distinct pointer types, so that a stream is never passed for an event.
namespace elbowroom::interposer::hip {

using Result = int;
inline constexpr Result kSuccess = 0;
inline constexpr Result kErrorInvalidValue = 1;
inline constexpr Result kErrorOutOfMemory = 2;
inline constexpr Result kErrorNotInitialized = 3;
inline constexpr Result kErrorInvalidDeviceFunction = 98;
inline constexpr Result kErrorNoDevice = 100;
inline constexpr Result kErrorInvalidDevice = 101;
inline constexpr Result kErrorInvalidImage = 200;
inline constexpr Result kErrorInvalidHandle = 400;
inline constexpr Result kErrorNotFound = 500;
inline constexpr Result kErrorNotReady = 600;
inline constexpr Result kErrorLaunchOutOfResources = 701;
inline constexpr Result kErrorCooperativeLaunchTooLarge = 720;
inline constexpr Result kErrorNotSupported = 801;
inline constexpr Result kErrorCaptureUnsupported = 900;
inline constexpr Result kErrorCaptureInvalidated = 901;
inline constexpr Result kErrorCapturedEvent = 907;

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
using MemcpyKind = int;

// Special stream handles; 0 is the legacy default stream, or the calling thread's own in a _spt entry point.
inline constexpr std::uintptr_t kStreamLegacy = 1;
inline constexpr std::uintptr_t kStreamPerThread = 2;

inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDisableTiming = 2;
// Of a record or wait in a stream capture: of the event itself, when the graph runs.
inline constexpr unsigned kEventExternal = 1;
inline constexpr MemcpyKind kMemcpyHostToDevice = 1;
inline constexpr MemcpyKind kMemcpyDeviceToHost = 2;

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

struct KernelNodeParams {
  Dim3 block;
  void** extra;
  void* function;  // a host function, or a Function where a module's kernel was captured
  Dim3 grid;
  void** parameters;
  unsigned shared_bytes;
};

// Since 6.0.
inline constexpr int kGraphNodeKernel = 0;
inline constexpr int kGraphNodeMemcpy = 1;
inline constexpr int kGraphNodeMemset = 2;
inline constexpr int kGraphNodeChild = 4;
inline constexpr int kGraphNodeEmpty = 5;
inline constexpr int kGraphNodeEventRecord = 7;
inline constexpr int kGraphNodeSemaphoreSignal = 8;
inline constexpr int kGraphNodeMemAlloc = 10;
inline constexpr int kGraphNodeMemFree = 11;
inline constexpr int kGraphNodeBatchMemOp = 14;  // the last that is known

inline constexpr std::uint64_t kInstantiateUseNodePriority = 8;

struct GraphInstantiateParams {
  GraphNode error_node;
  std::uint64_t flags;
  int result;
  Stream upload_stream;
};

}  // namespace elbowroom::interposer::hip
