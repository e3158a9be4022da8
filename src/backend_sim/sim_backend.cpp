#include <fmt/format.h>

#include "backend/leaves.hpp"
#include "backend_sim/performance.hpp"
#include "backend_sim/sim_workload.hpp"
#include "headroom/model/device_catalog.hpp"

namespace headroom::sim {
namespace {

// As many as a scenario may ask for.
constexpr int kDevices = 8;
constexpr const char* kDefaultDevice = "h200";
constexpr const char* kModelVersion = "1";

class SimBackend final : public Backend {
 public:
  explicit SimBackend(const DeviceLimits& device) {
    for (int index = 0; index < kDevices; ++index) {
      devices_.push_back({index, fmt::format("{} (simulated)", device.title), device, performance_of(device).memory});
    }
  }

  [[nodiscard]] std::string_view name() const override { return "sim"; }
  [[nodiscard]] Provenance provenance() const override { return Provenance::simulated; }
  [[nodiscard]] const std::vector<DeviceInfo>& devices() const override { return devices_; }
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& versions() const override { return versions_; }

  Result<std::unique_ptr<Workload>> prepare(const Scenario& scenario) override {
    if (Status valid = validate(scenario); !valid) return valid.error();
    return SimWorkload::make(scenario, devices_.front().limits);
  }

 private:
  std::vector<DeviceInfo> devices_;
  std::vector<std::pair<std::string, std::string>> versions_{{"simulator", kModelVersion}};
};

}  // namespace
}  // namespace headroom::sim

namespace headroom::detail {

Result<std::unique_ptr<Backend>> open_sim(const BackendOptions& options) {
  const Result<DeviceLimits> device = find_device(options.device == "auto" ? sim::kDefaultDevice : options.device);
  if (!device) return device.error();
  return std::unique_ptr<Backend>(std::make_unique<sim::SimBackend>(*device));
}

}  // namespace headroom::detail
