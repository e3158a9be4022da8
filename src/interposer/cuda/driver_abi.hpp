#pragma once

#include <cstddef>
#include <cstdint>

/// The part of the CUDA driver's binary interface that the interposer touches, declared here so that the library builds without
/// a toolkit. Names of enumerators and fields follow the driver's; tests/interposer compares sizes, offsets and values with cuda.h
/// wherever that header is. Handles are distinct pointer types, so that a stream is never passed for an event.
namespace elbowroom::interposer::cuda::cu {

using Result = int;
inline constexpr Result kSuccess = 0;
inline constexpr Result kErrorInvalidValue = 1;
inline constexpr Result kErrorInvalidHandle = 400;
inline constexpr Result kErrorNotReady = 600;

using Context = struct OpaqueContext*;
using Stream = struct OpaqueStream*;
using Event = struct OpaqueEvent*;
using Function = struct OpaqueFunction*;  // also carries a Kernel: the driver's launch entries accept both
using Kernel = struct OpaqueKernel*;
using Module = struct OpaqueModule*;
using Library = struct OpaqueLibrary*;
using Graph = struct OpaqueGraph*;
using GraphNode = struct OpaqueGraphNode*;
using GraphExec = struct OpaqueGraphExec*;
using GreenContext = struct OpaqueGreenContext*;
using Device = int;
using DevicePointer = std::uint64_t;

// Special stream handles; 0 is the legacy default stream, or the calling thread's own in a per-thread entry point.
inline constexpr std::uintptr_t kStreamLegacy = 1;
inline constexpr std::uintptr_t kStreamPerThread = 2;

inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDisableTiming = 2;

struct IpcEventHandle {
  char reserved[64];
};

enum ProcAddressFlags : std::uint64_t { kProcAddressLegacyStream = 1, kProcAddressPerThreadDefaultStream = 2 };

inline constexpr int kDeviceResourceSm = 1;

// CUdevResource; later versions are longer, and what is read stands where it stood.
struct DeviceResource {
  int type;
  unsigned char padding[92];
  unsigned sm_count;
  unsigned char rest[412];
};

enum FunctionAttribute : int {
  kFuncMaxThreadsPerBlock = 0,
  kFuncSharedSizeBytes = 1,
  kFuncNumRegs = 4,
  kFuncMaxDynamicSharedSizeBytes = 8,
  kFuncRequiredClusterWidth = 11,
  kFuncRequiredClusterHeight = 12,
  kFuncRequiredClusterDepth = 13,
};

inline constexpr int kFunctionLoaded = 1;

enum DeviceAttribute : int {
  kDeviceMultiprocessorCount = 16,
  kDeviceMaxSharedMemoryPerMultiprocessor = 81,
  kDeviceMaxSharedMemoryPerBlockOptin = 97,
  kDeviceReservedSharedMemoryPerBlock = 111,
};

enum CaptureStatus : int { kCaptureNone = 0, kCaptureActive = 1, kCaptureInvalidated = 2 };
enum CaptureMode : int { kCaptureModeGlobal = 0, kCaptureModeThreadLocal = 1, kCaptureModeRelaxed = 2 };

enum LaunchAttributeId : int {
  kLaunchCooperative = 2,
  kLaunchClusterDimension = 4,
  kLaunchProgrammaticEvent = 7,
  kLaunchPriority = 8,
  kLaunchCompletionEvent = 12,
};

union LaunchAttributeValue {
  char pad[64];
  int cooperative;
  struct {
    unsigned x, y, z;
  } cluster_dim;
  int priority;
  struct {
    Event event;
    int flags;
  } launch_completion_event;
};

struct LaunchAttribute {
  LaunchAttributeId id;
  LaunchAttributeValue value;
};

struct LaunchConfig {
  unsigned grid_x, grid_y, grid_z;
  unsigned block_x, block_y, block_z;
  unsigned shared_bytes;
  Stream stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

struct GraphEdgeData {
  unsigned char from_port, to_port, type, reserved[5];
};

inline constexpr std::uint64_t kInstantiateDeviceLaunch = 4;

struct GraphInstantiateParams {
  std::uint64_t flags;
  Stream upload_stream;
  GraphNode error_node;
  int result;
};

}  // namespace elbowroom::interposer::cuda::cu
