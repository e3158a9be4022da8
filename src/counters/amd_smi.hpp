#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "elbowroom/base/result.hpp"
#include "elbowroom/energy/meter.hpp"

// AMD SMI's C interface as far as Elbowroom calls it. Source: amdsmi.h of ROCm 6.0 to 7.0.
namespace elbowroom::counters {

using AmdSmiDevice = void*;

struct AmdSmiCalls {
  int (*init)(std::uint64_t flags) = nullptr;
  int (*shut_down)() = nullptr;
  int (*status_text)(int code, const char** text) = nullptr;
  int (*handle_from_bdf)(std::uint64_t bdf, AmdSmiDevice* device) = nullptr;
  int (*energy_count)(AmdSmiDevice device, std::uint64_t* count, float* microjoules, std::uint64_t* timestamp) = nullptr;
  /// May be absent from a driver; what it would say is then absent as well.
  int (*temperature)(AmdSmiDevice device, int sensor, int metric, std::int64_t* celsius) = nullptr;
};

/// AMD SMI as this machine has it. `unavailable` names the files that were tried.
Result<AmdSmiCalls> load_amd_smi();

/// Over given calls, the required ones bound; as open_energy_meter(). Ends them by `shut_down`.
Result<std::unique_ptr<EnergyMeter>> make_amd_smi_meter(const AmdSmiCalls& calls, std::span<const std::string> bus_ids);

}  // namespace elbowroom::counters
