#pragma once

#include <cstdint>

#include "interposer/hip/hip_abi.hpp"

/// Values that programs and the stand-in exchange, and that the interposer never touches.
namespace elbowroom::interposer::hip {

inline constexpr Result kErrorInvalidValue = 1;
inline constexpr Result kErrorOutOfMemory = 2;
inline constexpr Result kErrorInvalidDeviceFunction = 98;
inline constexpr Result kErrorNoDevice = 100;
inline constexpr Result kErrorInvalidDevice = 101;
inline constexpr Result kErrorInvalidImage = 200;
inline constexpr Result kErrorNotFound = 500;
inline constexpr Result kErrorLaunchOutOfResources = 701;
inline constexpr Result kErrorCooperativeLaunchTooLarge = 720;
inline constexpr Result kErrorNotSupported = 801;
inline constexpr Result kErrorCaptureUnsupported = 900;
inline constexpr Result kErrorCaptureInvalidated = 901;
inline constexpr Result kErrorCapturedEvent = 907;

using MemcpyKind = int;
inline constexpr MemcpyKind kMemcpyHostToDevice = 1;
inline constexpr MemcpyKind kMemcpyDeviceToHost = 2;
// Of a record or wait in a stream capture: of the event itself, when the graph runs.
inline constexpr unsigned kEventExternal = 1;

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
inline constexpr int kGraphNodeChild = 4;
inline constexpr int kGraphNodeEventRecord = 7;

struct GraphInstantiateParams {
  GraphNode error_node;
  std::uint64_t flags;
  int result;
  Stream upload_stream;
};

}  // namespace elbowroom::interposer::hip
