#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/leaves.hpp"
#include "backend_sim/hosts.hpp"
#include "backend_sim/launch_models.hpp"
#include "backend_sim/model_width.hpp"
#include "backend_sim/performance.hpp"
#include "backend_sim/rank_speeds.hpp"
#include "backend_sim/run_noise.hpp"
#include "backend_sim/sim_workload.hpp"
#include "base/most_ranks.hpp"
#include "elbowroom/base/environment.hpp"
#include "elbowroom/base/gibibytes.hpp"
#include "elbowroom/model/comm_catalog.hpp"
#include "elbowroom/model/device_catalog.hpp"
#include "elbowroom/network/machine.hpp"

namespace elbowroom::sim {
namespace {

// As many as a step has ranks: all are equal, and equal ranks cost no more than one.
constexpr int kDeviceCount = kMostRanks;
constexpr const char* kDefaultDevice = "h200";
constexpr const char* kModelVersion = "3";

class SimBackend final : public Backend {
 public:
  SimBackend(const DeviceLimits& device, const RunNoise& noise, const BackendOptions& options,
             const std::optional<MachineSpec>& machine)
      : noise_(noise), time_limit_(options.time_limit), machine_(machine), seed_(options.seed) {
    if (!options.predicts) { variability_ = options.variability; }
    const DeviceInfo first{0, fmt::format("{} (simulated)", device.title), device, performance_of(device).memory,
                           model_width_of(device)};
    devices_.assign(kDeviceCount, first);
    for (int index = 0; index < kDeviceCount; ++index) { devices_[static_cast<std::size_t>(index)].index = index; }
    const std::string kernel = comm_kernel_of(CollectiveOp::all_reduce, device);
    versions_.emplace_back("simulator_collectives", kernel.substr(0, kernel.find(':')));
    if (!noise.off()) { versions_.emplace_back("simulator_noise", fmt::format("{:g} %", noise.percent())); }
    name_variability();
  }

  [[nodiscard]] std::string_view name() const override { return "sim"; }
  [[nodiscard]] Provenance provenance() const override { return Provenance::simulated; }
  [[nodiscard]] const std::vector<DeviceInfo>& devices() const override { return devices_; }
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& versions() const override { return versions_; }
  [[nodiscard]] Result<Capabilities> capabilities() const override { return simulated_capabilities(devices_.front().limits); }

  using Backend::prepare;

  Result<std::unique_ptr<Workload>> prepare(const Step& step) override {
    const int host = machine_ ? machine_->host_gpus : performance_of(devices_.front().limits).host;
    if (Status joined = within_hosts(step, host, machine_); !joined) { return joined.error(); }
    const Bytes room = devices_.front().memory;
    const Status fits = step.memory ? check_fits(*step.memory, room, devices_.front().limits.name) : Status();
    if (!fits) { return invalid_input(fmt::format("memory: {}", fits.error().message)); }
    if (const Bytes needed = memory_per_device(step); needed > room) {
      return invalid_input(
          fmt::format("compute and collective.bytes: {:.1f} GiB on each GPU, expected at most {:.1f} GiB (memory of {})",
                      in_gibibytes(needed), in_gibibytes(room), devices_.front().limits.name));
    }
    if (Status good = check(variability_, step.ranks); !good) { return good.error(); }
    const std::vector<RankSpeed> speeds =
        variability_.none() ? std::vector<RankSpeed>() : rank_speeds(variability_, step.ranks, seed_);
    Result<std::unique_ptr<SimWorkload>> workload =
        SimWorkload::make(step, devices_.front().limits, noise_, time_limit_, machine_, speeds);
    if (!workload) { return workload.error(); }
    return std::unique_ptr<Workload>(std::move(*workload));
  }

 private:
  /// Figures of unequal GPUs say so.
  void name_variability() {
    const auto name = [this](const char* what, const std::vector<OfRank>& ranks) {
      std::string text;
      for (const OfRank& one : ranks) { text += fmt::format("{}{}={:g}", text.empty() ? "" : ",", one.rank, one.value); }
      if (!text.empty()) { versions_.emplace_back(what, text); }
    };
    if (variability_.jitter != 0) { versions_.emplace_back("simulator_jitter", fmt::format("{:g} %", variability_.jitter)); }
    name("simulator_stragglers", variability_.stragglers);
    name("simulator_slow_links", variability_.slow_links);
  }

  RunNoise noise_;
  std::chrono::milliseconds time_limit_;
  std::optional<MachineSpec> machine_;  ///< absent: nothing joins hosts
  std::uint64_t seed_;
  Variability variability_;
  std::vector<DeviceInfo> devices_;
  std::vector<std::pair<std::string, std::string>> versions_{{"simulator", kModelVersion}};
};

}  // namespace
}  // namespace elbowroom::sim

namespace elbowroom::detail {

Result<std::unique_ptr<Backend>> open_sim(const BackendOptions& options) {
  const std::string usual = options.machine ? options.machine->device : sim::kDefaultDevice;
  const Result<DeviceLimits> device =
      options.described ? *options.described : find_device(options.device == "auto" ? usual : options.device);
  if (!device) { return device.error(); }
  if (Status known = sim::check_simulable(*device); !known) { return known.error(); }
  const std::optional<MachineSpec> machine = options.machine ? options.machine : machine_with(device->name);
  const Result<double> noise = sim::parse_noise_percent(options.predicts ? std::nullopt : read(kSimNoise));
  if (!noise) { return noise.error(); }
  return std::unique_ptr<Backend>(
      std::make_unique<sim::SimBackend>(*device, sim::RunNoise(*noise, options.seed), options, machine));
}

}  // namespace elbowroom::detail
