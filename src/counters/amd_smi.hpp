#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "elbowroom/base/result.hpp"
#include "elbowroom/energy/meter.hpp"

// AMD SMI's C interface as far as Elbowroom calls it. Source: amdsmi.h of ROCm 6.0 to 7.0.
namespace elbowroom::counters {

using AmdSmiDevice = void*;
using AmdSmiSocket = void*;

/// amdsmi_clk_info_t
struct AmdSmiClock {
  std::uint32_t mhz;
  std::uint32_t least_mhz;
  std::uint32_t greatest_mhz;
  std::uint8_t locked;
  std::uint8_t asleep;
  std::uint32_t reserved[4];
};

struct AmdSmiCalls {
  int (*init)(std::uint64_t flags) = nullptr;
  int (*shut_down)() = nullptr;
  int (*status_text)(int code, const char** text) = nullptr;
  int (*handle_from_bdf)(std::uint64_t bdf, AmdSmiDevice* device) = nullptr;
  int (*energy_count)(AmdSmiDevice device, std::uint64_t* count, float* microjoules, std::uint64_t* timestamp) = nullptr;
  // What follows may be absent from a driver; what it would say is then absent as well.
  int (*temperature)(AmdSmiDevice device, int sensor, int metric, std::int64_t* celsius) = nullptr;
  int (*clock)(AmdSmiDevice device, int which, AmdSmiClock* clock) = nullptr;
  int (*sockets)(std::uint32_t* count, AmdSmiSocket* sockets) = nullptr;
  int (*devices)(AmdSmiSocket socket, std::uint32_t* count, AmdSmiDevice* devices) = nullptr;
  int (*bdf_of)(AmdSmiDevice device, std::uint64_t* bdf) = nullptr;
};

/// AMD SMI as this machine has it. `unavailable` names the files that were tried.
Result<AmdSmiCalls> load_amd_smi();

/// Over given calls, the required ones bound; as open_energy_meter(). Ends them by `shut_down`.
Result<std::unique_ptr<EnergyMeter>> make_amd_smi_meter(const AmdSmiCalls& calls, std::span<const std::string> bus_ids);

/// Where the machine's GPUs are on the bus, "0000:c1:00.0", in the library's order. A GPU that is divided into partitions is named
/// once: its counter is that of the whole. `unavailable` where the library does not say.
Result<std::vector<std::string>> amd_smi_bus_ids(const AmdSmiCalls& calls);

}  // namespace elbowroom::counters
