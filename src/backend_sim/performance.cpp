#include "backend_sim/performance.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "elbowroom/model/device_catalog.hpp"

namespace elbowroom::sim {
namespace {

// Fitted on H200, docs/simulator.md; taken over for all devices.
constexpr double kMemoryKnee = 1.75;
constexpr double kLinkKnee = 3.0;
constexpr double kLaunchGap = 1.5;
constexpr double kEventGap = 4.0;
constexpr double kBlockSpread = 0.02;
constexpr double kCopyGap = 14.0;

}  // namespace

Status check_simulable(const DeviceLimits& device) {
  const DeviceFacts* facts = facts_of(device);
  if (facts != nullptr && facts->simulated) { return {}; }
  std::vector<std::string_view> simulated;
  for (const DeviceLimits& one : device_catalog()) {
    if (one.facts->simulated) { simulated.emplace_back(one.name); }
  }
  return invalid_input(fmt::format(
      "device: {} has no \"simulator\", from memory_gib to devices_per_host; expected a device file that has it, or one of {}",
      device.name, fmt::join(simulated, ", ")));
}

const SimulatedSpeeds& performance_of(const DeviceLimits& device) { return *facts_of(device)->simulated; }

Machine machine_of(const DeviceLimits& device) {
  const SimulatedSpeeds& performance = performance_of(device);
  Machine machine;
  machine.sms = static_cast<int>(device.sms.count());
  machine.gpcs = performance.gpcs;
  machine.memory_rate = performance.memory_rate;
  machine.memory_knee = kMemoryKnee;
  machine.link_knee = kLinkKnee;
  machine.launch_gap = kLaunchGap;
  machine.event_gap = kEventGap;
  machine.block_spread = kBlockSpread;
  machine.copy_rate = performance.copy_rate;
  machine.copy_gap = kCopyGap;
  return machine;
}

}  // namespace elbowroom::sim
