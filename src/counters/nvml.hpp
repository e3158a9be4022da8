#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "elbowroom/base/result.hpp"
#include "elbowroom/energy/meter.hpp"

// NVML's C interface as far as Elbowroom calls it. Source: nvml.h of CUDA 11.0 to 13.0.
namespace elbowroom::counters {

using NvmlDevice = struct NvmlDeviceTag*;

struct NvmlFieldValue {
  unsigned field;
  unsigned scope;
  long long timestamp;
  long long latency;
  unsigned type;
  int code;
  union {
    double real;
    unsigned whole;
    unsigned long long large;
  } value;
};

struct NvmlProcess {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance;
  unsigned compute_instance;
};

/// nvmlPciInfo_t, of nvmlDeviceGetPciInfo_v3.
struct NvmlBusAddress {
  char legacy_bus_id[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned device_id;
  unsigned subsystem_id;
  char bus_id[32];
};

struct NvmlCalls {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error_string)(int code) = nullptr;
  int (*handle_by_bus_id)(const char* bus_id, NvmlDevice* device) = nullptr;
  int (*total_energy)(NvmlDevice device, unsigned long long* millijoules) = nullptr;
  // What follows may be absent from a driver; what it would say is then absent as well.
  int (*power_usage)(NvmlDevice device, unsigned* milliwatts) = nullptr;
  int (*field_values)(NvmlDevice device, int count, NvmlFieldValue* values) = nullptr;
  int (*temperature)(NvmlDevice device, unsigned sensor, unsigned* celsius) = nullptr;
  int (*clock)(NvmlDevice device, unsigned which, unsigned* mhz) = nullptr;
  int (*clock_reasons)(NvmlDevice device, unsigned long long* reasons) = nullptr;
  int (*mig_mode)(NvmlDevice device, unsigned* now, unsigned* pending) = nullptr;
  int (*processes)(NvmlDevice device, unsigned* count, NvmlProcess* processes) = nullptr;
  int (*device_count)(unsigned* count) = nullptr;
  int (*handle_by_index)(unsigned index, NvmlDevice* device) = nullptr;
  int (*bus_address)(NvmlDevice device, NvmlBusAddress* address) = nullptr;
};

/// NVML as this machine has it. `unavailable` names the files that were tried.
Result<NvmlCalls> load_nvml();

/// Over given calls, the required ones bound; as open_energy_meter(). Ends them by `shutdown`.
Result<std::unique_ptr<EnergyMeter>> make_nvml_meter(const NvmlCalls& calls, std::span<const std::string> bus_ids);

/// Where the machine's GPUs are on the bus, "0000:1b:00.0", in NVML's order. `unavailable` where the driver does not say.
Result<std::vector<std::string>> nvml_bus_ids(const NvmlCalls& calls);

}  // namespace elbowroom::counters
