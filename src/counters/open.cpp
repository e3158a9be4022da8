#include "elbowroom/counters/open.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "counters/amd_smi.hpp"
#include "counters/nvml.hpp"

namespace elbowroom {
namespace {

/// A meter for each of `bus_ids`, by `make(bus_ids)`.
template <class Make>
Result<std::vector<MeteredGpu>> each_alone(Result<std::vector<std::string>> bus_ids, const Make& make) {
  if (!bus_ids) { return bus_ids.error(); }
  std::vector<MeteredGpu> gpus;
  for (std::string& bus_id : *bus_ids) {
    Result<std::unique_ptr<EnergyMeter>> meter = make(std::span<const std::string>(&bus_id, 1));
    gpus.push_back({std::move(bus_id), std::move(meter)});
  }
  return gpus;
}

}  // namespace

Result<std::unique_ptr<EnergyMeter>> open_energy_meter(std::span<const std::string> bus_ids) {
  if (std::ranges::any_of(bus_ids, &std::string::empty)) {
    return unavailable("the driver does not say where on the bus a GPU is");
  }
  const Result<counters::NvmlCalls> nvml = counters::load_nvml();
  if (nvml) { return counters::make_nvml_meter(*nvml, bus_ids); }
  const Result<counters::AmdSmiCalls> amd = counters::load_amd_smi();
  if (amd) { return counters::make_amd_smi_meter(*amd, bus_ids); }
  return unavailable(fmt::format("{}; {}", nvml.error().message, amd.error().message));
}

Result<std::vector<MeteredGpu>> open_every_energy_meter() {
  const Result<counters::NvmlCalls> nvml = counters::load_nvml();
  if (nvml) {
    return each_alone(counters::nvml_bus_ids(*nvml),
                      [&](std::span<const std::string> one) { return counters::make_nvml_meter(*nvml, one); });
  }
  const Result<counters::AmdSmiCalls> amd = counters::load_amd_smi();
  if (amd) {
    return each_alone(counters::amd_smi_bus_ids(*amd),
                      [&](std::span<const std::string> one) { return counters::make_amd_smi_meter(*amd, one); });
  }
  return unavailable(fmt::format("{}; {}", nvml.error().message, amd.error().message));
}

}  // namespace elbowroom
