#include "elbowroom/model/device_rates.hpp"

#include <algorithm>
#include <array>

namespace elbowroom {
namespace {

// Peaks, whole devices: the products' data sheets and white papers; dense, without sparsity. f32 is the FMA units' rate. Links, one
// direction: A40 has its NVLink bridge, A100 NVLink 3 (12 links), H100 and H200 NVLink 4 (18), B200 NVLink 5 (18). MI250X has the
// eight links of 50 GB/s of one GCD, MI300X seven of 64 GB/s. Reached, where the fastest way that is known was measured: on H200
// cuBLAS of 8192^3 (docs/results/raw/h200/library-2gpu.json), GELU (tune-suites-2gpu.json) and copies by copy engines
// (timelines-copies-*.trace.json.gz); on H100 GELU (docs/results/raw/h100/quick-2gpu.json).
constexpr std::array kRates{
    DeviceRates{"a40", {37.4e6, {}}, {149.7e6, {}}, {0.696e6, {}}, {56.25e3, {}}, false},
    DeviceRates{"a100", {19.5e6, {}}, {312e6, {}}, {2.039e6, {}}, {300e3, {}}, false},
    DeviceRates{"h100", {66.9e6, {}}, {989.4e6, {}}, {3.35e6, 3.033e6}, {450e3, {}}, true},
    DeviceRates{"h200", {66.9e6, {}}, {989.4e6, 807.3e6}, {4.8e6, 4.269e6}, {450e3, 392e3}, true},
    DeviceRates{"b200", {75e6, {}}, {2250e6, {}}, {8e6, {}}, {900e3, {}}, true},
    DeviceRates{"mi250x", {23.95e6, {}}, {191.5e6, {}}, {1.6384e6, {}}, {400e3, {}}, false},
    DeviceRates{"mi300x", {163.4e6, {}}, {1307.4e6, {}}, {5.3e6, {}}, {448e3, {}}, false},
};

}  // namespace

std::optional<DeviceRates> rates_of(const DeviceLimits& device) {
  const auto* found = std::find_if(kRates.begin(), kRates.end(), [&](const DeviceRates& one) { return one.device == device.name; });
  if (found == kRates.end()) { return std::nullopt; }
  return *found;
}

}  // namespace elbowroom
