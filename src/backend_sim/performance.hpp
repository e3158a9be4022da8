#pragma once

#include <string_view>

#include "backend_sim/machine.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/model/device_limits.hpp"

namespace elbowroom::sim {

/// Speeds of one device of the catalog. Times in microseconds, amounts in bytes and floating-point operations, so a rate in bytes
/// per microsecond is megabytes per second: 4.8 TB/s is 4.8e6.
struct DevicePerformance {
  std::string_view device;  ///< catalog name
  Bytes memory;
  int gpcs = 1;                 ///< GPCs that a cluster lies within
  double f32_rate = 0;          ///< of one SM: flop per microsecond on the FMA units
  double tensor_rate = 0;       ///< of one SM: dense bf16 flop per microsecond on the matrix units
  double memory_rate = 0;       ///< of the device
  double link_rate = 0;         ///< that a collective reaches in one direction with as many blocks as it likes
  double load_latency = 0;      ///< of loads and barriers, relative to H200
  double block_time = 0;        ///< an elementwise block that finds memory idle
  double comm_thread_rate = 0;  ///< bytes per microsecond that one data-moving thread of a collective sends
  double comm_sm_rate = 0;      ///< most that one SM sends
  double comm_startup = 0;      ///< of a collective, before its first byte arrives
  double copy_rate = 0;         ///< of copies to peers by copy engines; 0: no collective uses them there
  int host = 0;                 ///< devices that the links join: no network between hosts is modelled
};

/// `device` is one of the catalog.
const DevicePerformance& performance_of(const DeviceLimits& device);

/// The engine's view of such a device.
Machine machine_of(const DeviceLimits& device);

}  // namespace elbowroom::sim
