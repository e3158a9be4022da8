#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/dynamic_library.hpp"
#include "elbowroom/base/result.hpp"

/// What a GPU backend calls, as tables: one for the runtime, one for the communication library (comm_library.hpp), one for the BLAS
/// (blas_library.hpp). A leaf fills them from its vendor's libraries; everything else in this room is written once over them.
namespace elbowroom::gpu {

// A vendor's handles. Nobody looks into them: they come from its table and go back to it.
using StreamHandle = struct StreamOpaque*;
using EventHandle = struct EventOpaque*;
using Function = struct FunctionOpaque*;

/// One function of a vendor's library, and the name that errors give it. A null function is one that the library lacks.
template <class... Parameters>
struct Call {
  const char* name = "";
  int (*function)(Parameters...) = nullptr;

  explicit operator bool() const { return function != nullptr; }
};

/// Fills `call` with the library's function of that name; `unavailable` where it has none, and the call is then null.
template <class... Parameters>
Status bind(const elbowroom::detail::DynamicLibrary& library, const char* name, Call<Parameters...>& call) {
  call.name = name;
  return library.bind(name, call.function);
}

// The numbers that CUDA's and HIP's runtimes give a meaning to, which are the same; tests compare them with both headers.
inline constexpr int kSuccess = 0;
inline constexpr int kErrorOutOfMemory = 2;
inline constexpr int kErrorNotReady = 600;
inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDefault = 0;
inline constexpr unsigned kEventDisableTiming = 2;
inline constexpr unsigned kHostPortable = 1;
inline constexpr unsigned kHostMapped = 2;
inline constexpr int kHostToDevice = 1;
inline constexpr int kDeviceToHost = 2;
inline constexpr int kDeviceToDevice = 3;

enum class FunctionAttribute : int {
  static_shared = 1,
  registers = 4,           ///< of a thread
  max_dynamic_shared = 8,  ///< what a launch may ask for; of CUDA's functions only, as what follows
  carveout = 9,            ///< percent of an SM's L1 that is preferred as shared memory; -1: the driver's choice
  cluster_width = 11,      ///< blocks of a cluster, all three or none
  cluster_height = 12,
  cluster_depth = 13,
};

/// Kernels of one kind of module. A grid and a block are given in x, y and z, as blocks and threads.
struct KernelCalls {
  Call<int*, int, Function> get_attribute;
  Call<Function, int, int> set_attribute;  ///< null where a launch may ask for all the shared memory that a block can have
  Call<Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, StreamHandle, void**, void**> launch;
};

struct RuntimeCalls {
  const char* (*get_error_string)(int code) = nullptr;
  const char* (*get_error_name)(int code) = nullptr;
  Call<> get_last_error;
  Call<int*> get_device;
  Call<int> set_device;
  Call<> device_synchronize;
  Call<int*, int*> device_get_stream_priority_range;
  Call<StreamHandle*, unsigned, int> stream_create_with_priority;
  Call<StreamHandle> stream_destroy;
  Call<StreamHandle, int*> stream_get_priority;
  Call<StreamHandle> stream_synchronize;
  Call<StreamHandle, EventHandle, unsigned> stream_wait_event;
  Call<EventHandle*, unsigned> event_create_with_flags;
  Call<EventHandle> event_destroy;
  Call<EventHandle, StreamHandle> event_record;
  Call<EventHandle> event_query;
  Call<float*, EventHandle, EventHandle> event_elapsed_time;
  Call<void**, std::size_t> malloc;
  Call<void*> free;
  Call<void**, std::size_t, unsigned> host_malloc;
  Call<void*> host_free;
  Call<std::size_t*, std::size_t*> mem_get_info;
  Call<void*, const void*, std::size_t, int> memcpy;
  Call<void*, const void*, std::size_t, int, StreamHandle> memcpy_async;
  Call<void*, int, std::size_t, StreamHandle> memset_async;
  KernelCalls own;          ///< this project's kernels
  KernelCalls application;  ///< an application's, which may come from another copy of the runtime
  /// `own.launch` with a preferred carve-out in percent; null where shared memory is not carved out of a cache.
  Call<Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, StreamHandle, void**, int>
      launch_with_carveout;
};

}  // namespace elbowroom::gpu
