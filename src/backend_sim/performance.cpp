#include "backend_sim/performance.hpp"

#include <algorithm>
#include <array>

namespace elbowroom::sim {
namespace {

// Peaks are the products' data sheets and white papers, divided by the SMs of the catalog: f32 without matrix units, bf16 dense.
// Memory: the data sheets' GB, which drivers report as about as many GiB (H200: 140). Link rates, other than for H200, are the part
// of the data sheet's one-way link rate that rings reach on H200 (0.79): A40 has PCIe 4.0 x16 beside its host bridge, A100 NVLink
// 3, B200 NVLink 5. MI250X has the two to four 50 GB/s links that a ring takes between GCDs, MI300X seven 64 GB/s links. Copies:
// 0.87 of the data sheet's one-way NVLink rate, as on H200. NCCL asks for NVLink; RCCL has no such collectives. Of hosts, the HGX
// boards of A100, H100, H200 and B200 join eight by NVSwitch. Eight MI300X or four MI250X of two devices are one OAM platform. A40
// servers have eight. Times of H200 (block_time, comm_*) are fitted: docs/simulator.md names the rows. Others follow from it:
// latencies scale with the published memory latencies, a communication SM's rate with clock and link generation.
constexpr std::array kDevices{
    DevicePerformance{"a40", kibibytes(48 << 20), 1, 445e3, 890e3, 0.696e6, 20e3, 1.04, 0.90, 90, 12e3, 40, 0, 8},
    DevicePerformance{"a100", kibibytes(80 << 20), 1, 180.5e3, 2.89e6, 2.04e6, 237e3, 1.08, 0.90, 90, 18e3, 38, 261e3, 8},
    DevicePerformance{"h100", kibibytes(80 << 20), 8, 507e3, 7.49e6, 3.35e6, 357e3, 1.00, 0.80, 90, 22e3, 38, 392e3, 8},
    DevicePerformance{"h200", kibibytes(141 << 20), 8, 507e3, 7.49e6, 4.80e6, 357e3, 1.00, 0.80, 90, 22e3, 38, 392e3, 8},
    DevicePerformance{"b200", kibibytes(180 << 20), 8, 507e3, 15.2e6, 8.00e6, 711e3, 1.00, 0.80, 90, 30e3, 38, 784e3, 8},
    DevicePerformance{"mi250x", kibibytes(64 << 20), 1, 217e3, 1.74e6, 1.60e6, 110e3, 1.40, 1.10, 90, 8e3, 50, 0, 8},
    DevicePerformance{"mi300x", kibibytes(192 << 20), 1, 268.8e3, 4.30e6, 5.30e6, 350e3, 1.40, 1.10, 90, 16e3, 50, 0, 8},
};

// Fitted on H200, docs/simulator.md; taken over for all devices.
constexpr double kMemoryKnee = 1.75;
constexpr double kLinkKnee = 3.0;
constexpr double kLaunchGap = 1.5;
constexpr double kEventGap = 4.0;
constexpr double kBlockSpread = 0.02;
constexpr double kCopyGap = 14.0;

}  // namespace

const DevicePerformance& performance_of(const DeviceLimits& device) {
  const auto found =
      std::find_if(kDevices.begin(), kDevices.end(), [&](const DevicePerformance& one) { return one.device == device.name; });
  return found == kDevices.end() ? kDevices.front() : *found;
}

Machine machine_of(const DeviceLimits& device) {
  const DevicePerformance& performance = performance_of(device);
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
