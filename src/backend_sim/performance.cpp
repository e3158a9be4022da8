#include "backend_sim/performance.hpp"

#include <algorithm>
#include <array>

namespace headroom::sim {
namespace {

constexpr std::array kDevices{
    DevicePerformance{"a40", 1, 445'000, 890'000, 0.696e6, 20e3, 0.75, 0.90, 4, 4, 90, 12e3, 25},
    DevicePerformance{"a100", 1, 180'500, 2'890'000, 2.04e6, 235e3, 0.80, 0.90, 24, 32, 90, 18e3, 20},
    DevicePerformance{"h100", 8, 507'000, 7'490'000, 3.35e6, 351e3, 0.75, 0.84, 24, 32, 90, 22e3, 20},
    DevicePerformance{"h200", 8, 507'000, 7'490'000, 4.80e6, 351e3, 0.75, 0.84, 24, 32, 90, 22e3, 20},
    DevicePerformance{"b200", 8, 507'000, 15'200'000, 8.00e6, 700e3, 0.75, 0.84, 24, 32, 90, 30e3, 20},
    DevicePerformance{"mi250x", 1, 217'000, 1'740'000, 1.60e6, 110e3, 1.00, 1.10, 24, 32, 90, 8e3, 30},
    DevicePerformance{"mi300x", 1, 537'000, 4'300'000, 5.30e6, 310e3, 1.00, 1.10, 32, 32, 90, 16e3, 30},
};

}  // namespace

const DevicePerformance& performance_of(const DeviceLimits& device) {
  const auto found = std::find_if(kDevices.begin(), kDevices.end(),
                                  [&](const DevicePerformance& one) { return one.device == device.name; });
  return found == kDevices.end() ? kDevices.front() : *found;
}

Machine machine_of(const DeviceLimits& device) {
  const DevicePerformance& performance = performance_of(device);
  Machine machine;
  machine.sms = static_cast<int>(device.sms.count());
  machine.gpcs = performance.gpcs;
  machine.memory_rate = performance.memory_rate;
  machine.memory_knee = 2.0;
  machine.link_knee = 3.0;
  machine.launch_gap = 1.5;
  machine.event_gap = 4.0;
  return machine;
}

}  // namespace headroom::sim
