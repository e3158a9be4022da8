#pragma once

#include <cstddef>
#include <cstdint>

// HIP's C interface as far as Elbowroom calls it. It is declared here because the library is found at run time and no header of
// ROCm is needed to build. Source: hip_runtime_api.h of ROCm 5.0 to 7.0, which agree on everything below; a test compares these
// with the headers where they are.
namespace elbowroom::hip {

using HipModule = struct HipModuleOpaque*;

inline constexpr int kHipErrorNoDevice = 100;
inline constexpr unsigned kHipMallocSignalMemory = 2;
inline constexpr unsigned kHipStreamWaitValueGte = 0;

/// hipDeviceAttribute_t. ROCm 6 retired some enumerators and kept the numbers of all others.
enum class DeviceAttribute : int {
  max_threads_per_block = 56,
  max_threads_per_cu = 57,
  compute_units = 63,
  max_shared_per_block = 74,
  warp_size = 87,
  max_shared_per_cu = 10002,
  can_use_stream_wait_value = 10013,
  wall_clock_rate = 10017,  ///< kHz; since ROCm 5.3
};

/// Where hipDeviceProp_t, which changed its layout with ROCm 6 under a new function name, has the two texts that no attribute
/// gives.
struct PropertiesLayout {
  const char* function;
  std::size_t name;
  std::size_t architecture;  ///< "gfx90a:sramecc+:xnack-"
};
inline constexpr PropertiesLayout kProperties6{"hipGetDevicePropertiesR0600", 0, 1160};
inline constexpr PropertiesLayout kProperties5{"hipGetDeviceProperties", 0, 396};
/// More than either layout takes (1,472 and 792 bytes).
inline constexpr std::size_t kPropertiesRoom = 4096;
inline constexpr std::size_t kPropertiesText = 256;  ///< greatest length of either text, with its end

}  // namespace elbowroom::hip
