// A stand-in for NVML: every GPU draws ELBOWROOM_FAKE_NVML_WATTS (100), its counter moves every ELBOWROOM_FAKE_NVML_PERIOD_MS (1).
// ELBOWROOM_FAKE_NVML_GPUS (2) is how many it lists, from 0000:1b:00.0 on.
// ELBOWROOM_FAKE_NVML_TROUBLE is one of: mig, permission, unsupported, neighbour, init, unknown, stuck, second (the second GPU
// alone has no counter).
#include <time.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "counters/nvml.hpp"

namespace {

using elbowroom::counters::NvmlBusAddress;
using elbowroom::counters::NvmlDevice;
using elbowroom::counters::NvmlFieldValue;
using elbowroom::counters::NvmlProcess;

constexpr int kNotSupported = 3;
constexpr int kNoPermission = 4;
constexpr int kNotFound = 6;
constexpr int kDriverNotLoaded = 9;

bool trouble(std::string_view name) {
  const char* const set = std::getenv("ELBOWROOM_FAKE_NVML_TROUBLE");
  return set != nullptr && set == name;
}

double number(const char* name, double otherwise) {
  const char* const set = std::getenv(name);
  return set == nullptr ? otherwise : std::strtod(set, nullptr);
}

double watts() { return number("ELBOWROOM_FAKE_NVML_WATTS", 100); }

NvmlDevice handle_of(unsigned index) { return reinterpret_cast<NvmlDevice>(static_cast<std::uintptr_t>(index) + 1); }
unsigned index_of(NvmlDevice device) { return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(device)) - 1; }

double milliseconds_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

}  // namespace

extern "C" {

int nvmlInit_v2() { return trouble("init") ? kDriverNotLoaded : 0; }
int nvmlShutdown() { return 0; }

const char* nvmlErrorString(int code) {
  switch (code) {
    case kNotSupported:
      return "Not Supported";
    case kNoPermission:
      return "Insufficient Permissions";
    case kNotFound:
      return "Not Found";
    case kDriverNotLoaded:
      return "Driver Not Loaded";
    default:
      return "Unknown Error";
  }
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, NvmlDevice* device) {
  *device = handle_of(std::strstr(bus_id, ":1c:") == nullptr ? 0 : 1);
  return trouble("unknown") || *bus_id == '\0' ? kNotFound : 0;
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(number("ELBOWROOM_FAKE_NVML_GPUS", 2));
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, NvmlDevice* device) {
  *device = handle_of(index);
  return 0;
}

int nvmlDeviceGetPciInfo_v3(NvmlDevice device, NvmlBusAddress* address) {
  *address = {};
  address->bus = 0x1b + index_of(device);
  return 0;
}

int nvmlDeviceGetTotalEnergyConsumption(NvmlDevice device, unsigned long long* millijoules) {
  if (trouble("unsupported") || (trouble("second") && index_of(device) == 1)) { return kNotSupported; }
  if (trouble("permission")) { return kNoPermission; }
  const double period = number("ELBOWROOM_FAKE_NVML_PERIOD_MS", 1);
  const auto periods = trouble("stuck") ? 1ULL : static_cast<unsigned long long>(milliseconds_now() / period);
  *millijoules = static_cast<unsigned long long>(static_cast<double>(periods) * period * watts());
  return 0;
}

int nvmlDeviceGetPowerUsage(NvmlDevice, unsigned* milliwatts) {
  *milliwatts = static_cast<unsigned>(watts() * 1000);
  return 0;
}

int nvmlDeviceGetFieldValues(NvmlDevice, int count, NvmlFieldValue* values) {
  for (int at = 0; at < count; ++at) {
    values[at].code = 0;
    values[at].type = 1;
    values[at].value.whole = static_cast<unsigned>(watts() * 1000);
  }
  return 0;
}

int nvmlDeviceGetTemperature(NvmlDevice, unsigned, unsigned* celsius) {
  *celsius = 41;
  return 0;
}

int nvmlDeviceGetClockInfo(NvmlDevice, unsigned, unsigned* mhz) {
  *mhz = 1755;
  return 0;
}

int nvmlDeviceGetCurrentClocksEventReasons(NvmlDevice, unsigned long long* reasons) {
  *reasons = 0x4;
  return 0;
}

int nvmlDeviceGetMigMode(NvmlDevice, unsigned* now, unsigned* pending) {
  *now = *pending = trouble("mig") ? 1 : 0;
  return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v3(NvmlDevice, unsigned* count, NvmlProcess* processes) {
  const unsigned running = trouble("neighbour") ? 2 : 1;
  for (unsigned at = 0; at < running && at < *count; ++at) { processes[at] = {100 + at, 0, 0, 0}; }
  *count = running;
  return 0;
}

}  // extern "C"
