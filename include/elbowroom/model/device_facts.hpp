#pragma once

#include <optional>
#include <string>
#include <vector>

#include "elbowroom/base/model_width.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/model/device_rates.hpp"

namespace elbowroom {

/// What the simulator takes a device to be. Times in microseconds, amounts in bytes and floating-point operations, so a rate in
/// bytes per microsecond is megabytes per second: 4.8 TB/s is 4.8e6.
struct SimulatedSpeeds {
  Bytes memory;
  int gpcs = 1;                 ///< GPCs that a cluster lies within
  double f32_rate = 0;          ///< of one SM: flop per microsecond on the FMA units
  double tensor_rate = 0;       ///< of one SM: dense bf16 flop per microsecond on the matrix units
  double f16_rate = 0;          ///< the same in f16; 0: not known
  double e4m3_rate = 0;         ///< the same in e4m3; 0: not known
  double memory_rate = 0;       ///< of the device
  double link_rate = 0;         ///< that a collective reaches in one direction with as many blocks as it likes
  double load_latency = 0;      ///< of loads and barriers, relative to H200
  double block_time = 0;        ///< an elementwise block that finds memory idle
  double comm_thread_rate = 0;  ///< bytes per microsecond that one data-moving thread of a collective sends
  double comm_sm_rate = 0;      ///< most that one SM sends
  double comm_startup = 0;      ///< of a collective, before its first byte arrives
  double one_way_blocks = 1;    ///< rate of blocks of collectives other than all-reduces, relative to H200
  double one_way_links = 1;     ///< what those reach of the links, relative to H200
  double one_way_traffic = 1;   ///< memory's traffic per byte that those send, relative to H200
  double copy_rate = 0;         ///< of copies to peers by copy engines; 0: no collective uses them there
  int host = 0;                 ///< devices that the links join: no network between hosts is modelled
};

/// What a device file says beside the limits.
struct DeviceFacts {
  std::vector<std::string> names;            ///< of the vendor and its driver: "NVIDIA H100 80GB HBM3"
  std::optional<DeviceRates> rates;          ///< absent: one that is needed is not known
  std::optional<SimulatedSpeeds> simulated;  ///< absent: nobody fitted them
  std::optional<ModelWidth> model;           ///< what the fit says of itself; absent: nothing
};

struct DeviceLimits;

/// Those of the device's file; of a device that has none, those of the catalog's device of that name. Null: nothing is known.
const DeviceFacts* facts_of(const DeviceLimits& device);

}  // namespace elbowroom
