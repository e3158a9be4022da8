#include "elbowroom/counters/open.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "counters/amd_smi.hpp"
#include "counters/nvml.hpp"

namespace elbowroom {

Result<std::unique_ptr<EnergyMeter>> open_energy_meter(std::span<const std::string> bus_ids) {
  if (std::ranges::any_of(bus_ids, &std::string::empty)) return unavailable("the driver does not say where on the bus a GPU is");
  const Result<counters::NvmlCalls> nvml = counters::load_nvml();
  if (nvml) return counters::make_nvml_meter(*nvml, bus_ids);
  const Result<counters::AmdSmiCalls> amd = counters::load_amd_smi();
  if (amd) return counters::make_amd_smi_meter(*amd, bus_ids);
  return unavailable(fmt::format("{}; {}", nvml.error().message, amd.error().message));
}

}  // namespace elbowroom
