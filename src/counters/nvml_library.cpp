#include <vector>

#include "backend/dynamic_library.hpp"
#include "counters/nvml.hpp"
#include "elbowroom/base/environment.hpp"

namespace elbowroom::counters {
namespace {

Result<NvmlCalls> bind_all(const elbowroom::detail::DynamicLibrary& library) {
  NvmlCalls calls;
  for (const Status& bound : {
           library.bind("nvmlInit_v2", calls.init),
           library.bind("nvmlShutdown", calls.shutdown),
           library.bind("nvmlErrorString", calls.error_string),
           library.bind("nvmlDeviceGetHandleByPciBusId_v2", calls.handle_by_bus_id),
           library.bind("nvmlDeviceGetTotalEnergyConsumption", calls.total_energy),
       }) {
    if (!bound) { return bound.error(); }
  }
  const auto may_lack = [](const Status&) {};
  may_lack(library.bind("nvmlDeviceGetPowerUsage", calls.power_usage));
  may_lack(library.bind("nvmlDeviceGetFieldValues", calls.field_values));
  may_lack(library.bind("nvmlDeviceGetTemperature", calls.temperature));
  may_lack(library.bind("nvmlDeviceGetClockInfo", calls.clock));
  may_lack(library.bind("nvmlDeviceGetMigMode", calls.mig_mode));
  may_lack(library.bind("nvmlDeviceGetComputeRunningProcesses_v3", calls.processes));
  may_lack(library.bind("nvmlDeviceGetCount_v2", calls.device_count));
  may_lack(library.bind("nvmlDeviceGetHandleByIndex_v2", calls.handle_by_index));
  may_lack(library.bind("nvmlDeviceGetPciInfo_v3", calls.bus_address));
  // The older name of drivers before 535.
  if (!library.bind("nvmlDeviceGetCurrentClocksEventReasons", calls.clock_reasons)) {
    may_lack(library.bind("nvmlDeviceGetCurrentClocksThrottleReasons", calls.clock_reasons));
  }
  return calls;
}

}  // namespace

Result<NvmlCalls> load_nvml() {
  std::vector<std::string> names{"libnvidia-ml.so.1", "libnvidia-ml.so"};
  if (const auto chosen = read(kNvmlLibrary)) { names = {*chosen}; }
  const Result<elbowroom::detail::DynamicLibrary> library = elbowroom::detail::DynamicLibrary::open(names);
  if (!library) { return library.error(); }
  Result<NvmlCalls> calls = bind_all(*library);
  if (calls) { library->keep_loaded(); }
  return calls;
}

}  // namespace elbowroom::counters
