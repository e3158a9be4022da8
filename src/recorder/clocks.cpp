#include "recorder/clocks.hpp"

#include <cuda.h>
#include <dlfcn.h>

#include <array>

#include "recorder/bind.hpp"

namespace elbowroom::recorder {
namespace {

constexpr unsigned kSmClock = 1;  // NVML_CLOCK_SM
constexpr int kNvmlSuccess = 0;
// nvmlClocksEventReasonSwPowerCap and nvmlClocksThrottleReasonHwPowerBrakeSlowdown of nvml.h.
constexpr unsigned long long kPowerReasons = 0x04 | 0x80;

}  // namespace

std::optional<ClockReading> Clocks::read(std::uint32_t device, Time now) {
  if (!opened_) { open(); }
  if (!calls_) { return std::nullopt; }
  const auto [found, fresh] = devices_.try_emplace(device);
  if (fresh) { found->second = known(device); }
  ClockReading reading{now, device, 0, found->second.most_mhz, false};
  unsigned long long reasons = 0;
  const Handle handle = found->second.handle;
  if (handle == nullptr || calls_->clock(handle, kSmClock, &reading.mhz) != kNvmlSuccess ||
      calls_->reasons(handle, &reasons) != kNvmlSuccess) {
    return std::nullopt;
  }
  reading.at_power_limit = (reasons & kPowerReasons) != 0;
  return reading;
}

void Clocks::open() {
  opened_ = true;
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);  // for good: the program may use it too
  Calls calls;
  const bool whole = library != nullptr && bind(library, "nvmlInit_v2", calls.init) &&
                     bind(library, "nvmlDeviceGetHandleByPciBusId_v2", calls.handle) &&
                     bind(library, "nvmlDeviceGetClockInfo", calls.clock) &&
                     bind(library, "nvmlDeviceGetMaxClockInfo", calls.greatest_clock) &&
                     // The older name of drivers before 535.
                     (bind(library, "nvmlDeviceGetCurrentClocksEventReasons", calls.reasons) ||
                      bind(library, "nvmlDeviceGetCurrentClocksThrottleReasons", calls.reasons));
  if (whole && calls.init() == kNvmlSuccess) { calls_ = calls; }
}

Clocks::Known Clocks::known(std::uint32_t device) const {
  Known result;
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  decltype(&cuDeviceGetPCIBusId) bus_id = nullptr;
  std::array<char, 32> text{};
  if (driver == nullptr || !bind(driver, "cuDeviceGetPCIBusId", bus_id) ||
      bus_id(text.data(), static_cast<int>(text.size()), static_cast<CUdevice>(device)) != CUDA_SUCCESS ||
      calls_->handle(text.data(), &result.handle) != kNvmlSuccess ||
      calls_->greatest_clock(result.handle, kSmClock, &result.most_mhz) != kNvmlSuccess) {
    return {};
  }
  return result;
}

}  // namespace elbowroom::recorder
