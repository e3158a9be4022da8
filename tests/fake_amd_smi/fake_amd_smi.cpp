// A stand-in for AMD SMI: two GPUs, 0000:c1:00.0 and 0000:c2:00.0, each in a socket of its own. Each draws 100 W and counts in
// units of 15.259 uJ, as an MI300X does; the counter moves every millisecond. ELBOWROOM_FAKE_AMD_SMI_TROUBLE is one of: init,
// permission, uncounted.
#include <time.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "counters/amd_smi.hpp"

namespace {

using elbowroom::counters::AmdSmiClock;
using elbowroom::counters::AmdSmiDevice;
using elbowroom::counters::AmdSmiSocket;

constexpr int kNotSupported = 2;   // AMDSMI_STATUS_NOT_SUPPORTED
constexpr int kNoPermission = 10;  // AMDSMI_STATUS_NO_PERM
constexpr int kNotFound = 31;      // AMDSMI_STATUS_NOT_FOUND
constexpr int kNotInitialized = 32;
constexpr double kMicrowatts = 100e6;
constexpr float kUnit = 15.259F;
constexpr std::uint64_t kFirstBus = 0xc1;

struct Gpu {
  std::uint64_t bdf;
};
Gpu gpus[2] = {{kFirstBus << 8}, {(kFirstBus + 1) << 8}};

bool trouble(std::string_view name) {
  const char* const set = std::getenv("ELBOWROOM_FAKE_AMD_SMI_TROUBLE");
  return set != nullptr && set == name;
}

double whole_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::floor(static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6);
}

}  // namespace

extern "C" {

int amdsmi_init(std::uint64_t) { return trouble("init") ? kNotInitialized : 0; }
int amdsmi_shut_down() { return 0; }

int amdsmi_status_code_to_string(int code, const char** text) {
  *text = code == kNoPermission ? "AMDSMI_STATUS_NO_PERM" : code == kNotSupported ? "AMDSMI_STATUS_NOT_SUPPORTED" : "unknown";
  return 0;
}

int amdsmi_get_socket_handles(std::uint32_t* count, AmdSmiSocket* sockets) {
  *count = 2;
  for (int at = 0; sockets != nullptr && at < 2; ++at) { sockets[at] = gpus + at; }
  return trouble("permission") ? kNoPermission : 0;
}

int amdsmi_get_processor_handles(AmdSmiSocket socket, std::uint32_t* count, AmdSmiDevice* devices) {
  *count = 1;
  if (devices != nullptr) { *devices = socket; }
  return 0;
}

int amdsmi_get_gpu_device_bdf(AmdSmiDevice device, std::uint64_t* bdf) {
  *bdf = static_cast<Gpu*>(device)->bdf;
  return 0;
}

int amdsmi_get_processor_handle_from_bdf(std::uint64_t bdf, AmdSmiDevice* device) {
  for (Gpu& gpu : gpus) {
    if (gpu.bdf == bdf) { *device = &gpu; }
  }
  return bdf == gpus[0].bdf || bdf == gpus[1].bdf ? 0 : kNotFound;
}

int amdsmi_get_energy_count(AmdSmiDevice, std::uint64_t* count, float* microjoules, std::uint64_t* timestamp) {
  *microjoules = kUnit;
  *count = static_cast<std::uint64_t>(whole_milliseconds() * kMicrowatts / 1e3 / static_cast<double>(kUnit));
  *timestamp = 0;
  return trouble("uncounted") ? kNotSupported : 0;
}

int amdsmi_get_temp_metric(AmdSmiDevice, int, int, std::int64_t* celsius) {
  *celsius = 52;
  return 0;
}

int amdsmi_get_clock_info(AmdSmiDevice, int, AmdSmiClock* clock) {
  *clock = {};
  clock->mhz = 2100;
  return 0;
}

}  // extern "C"
