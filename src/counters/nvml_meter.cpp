#include <fmt/format.h>

#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "counters/in_use.hpp"
#include "counters/nvml.hpp"
#include "elbowroom/energy/sampler.hpp"

namespace elbowroom::counters {
namespace {

constexpr int kSuccess = 0;
constexpr unsigned kTemperatureOfGpu = 0;
constexpr unsigned kClockOfSms = 1;
constexpr unsigned kInstantPower = 186;  // NVML_FI_DEV_POWER_INSTANT, in milliwatts
constexpr unsigned kUnsigned = 1;        // NVML_VALUE_TYPE_UNSIGNED_INT
constexpr unsigned kMostProcesses = 64;

// That a GPU is idle (0x1) is no reason while it works.
constexpr std::array<std::pair<unsigned long long, std::string_view>, 8> kReasons{{{0x2, "clocks that were set"},
                                                                                   {0x4, "power cap"},
                                                                                   {0x8, "hardware slowdown"},
                                                                                   {0x10, "sync boost"},
                                                                                   {0x20, "heat, by software"},
                                                                                   {0x40, "heat, by hardware"},
                                                                                   {0x80, "power brake"},
                                                                                   {0x100, "display clock"}}};

class NvmlMeter final : public EnergyMeter {
 public:
  explicit NvmlMeter(const NvmlCalls& calls) : calls_(calls) {}
  ~NvmlMeter() override { calls_.shutdown(); }

  Status add(const std::string& bus_id) {
    Gpu gpu{nullptr, bus_id, true};
    if (Status found = check(calls_.handle_by_bus_id(bus_id.c_str(), &gpu.device), "nvmlDeviceGetHandleByPciBusId", bus_id);
        !found) {
      return found;
    }
    unsigned now = 0;
    unsigned pending = 0;
    const bool partitioned = calls_.mig_mode != nullptr && calls_.mig_mode(gpu.device, &now, &pending) == kSuccess && now == 1;
    if (partitioned) {
      return unavailable(fmt::format("GPU {}: MIG is on, and the energy counter is that of the whole GPU", bus_id));
    }
    gpu.instant = calls_.field_values != nullptr && instant_power(gpu.device).has_value();
    gpus_.push_back(gpu);
    const Result<CounterReading> first = read(gpus_.size() - 1);
    return first ? Status() : Status(first.error());
  }

  [[nodiscard]] std::string_view library() const override { return "nvml"; }
  [[nodiscard]] std::size_t gpus() const override { return gpus_.size(); }

  Result<CounterReading> read(std::size_t at) override {
    const Gpu& gpu = gpus_[at];
    unsigned long long millijoules = 0;
    const Microseconds before = Sampler::now();
    if (Status asked = check(calls_.total_energy(gpu.device, &millijoules), "nvmlDeviceGetTotalEnergyConsumption", gpu.bus_id);
        !asked) {
      return asked.error();
    }
    CounterReading reading{(before + Sampler::now()) / 2, Millijoules(static_cast<std::int64_t>(millijoules))};
    reading.power = gpu.instant ? instant_power(gpu.device) : usual_power(gpu.device);
    return reading;
  }

  Result<GpuState> state(std::size_t at) override {
    const NvmlDevice device = gpus_[at].device;
    GpuState state;
    unsigned value = 0;
    if (calls_.temperature != nullptr && calls_.temperature(device, kTemperatureOfGpu, &value) == kSuccess) {
      state.celsius = static_cast<int>(value);
    }
    if (calls_.clock != nullptr && calls_.clock(device, kClockOfSms, &value) == kSuccess) {
      state.sm_mhz = static_cast<int>(value);
    }
    unsigned long long reasons = 0;
    if (calls_.clock_reasons != nullptr && calls_.clock_reasons(device, &reasons) == kSuccess) {
      for (const auto& [bit, words] : kReasons) {
        if ((reasons & bit) != 0) { state.below_greatest_clock.emplace_back(words); }
      }
    }
    std::array<NvmlProcess, kMostProcesses> found{};
    unsigned count = kMostProcesses;
    if (calls_.processes != nullptr && calls_.processes(device, &count, found.data()) == kSuccess) {
      state.processes = static_cast<int>(count);
    }
    return state;
  }

 private:
  struct Gpu {
    NvmlDevice device;
    std::string bus_id;
    bool instant;  ///< the driver shows power now, not only a mean over a second
  };

  [[nodiscard]] Status check(int code, const char* call, const std::string& bus_id) const {
    if (code == kSuccess) { return {}; }
    return unavailable(fmt::format("GPU {}: {}: {}", bus_id, call, calls_.error_string(code)));
  }

  [[nodiscard]] std::optional<Watts> instant_power(NvmlDevice device) const {
    NvmlFieldValue value{};
    value.field = kInstantPower;
    const bool answered = calls_.field_values(device, 1, &value) == kSuccess && value.code == kSuccess && value.type == kUnsigned;
    return answered ? std::optional(Watts{value.value.whole / 1000.0}) : std::nullopt;
  }

  [[nodiscard]] std::optional<Watts> usual_power(NvmlDevice device) const {
    unsigned milliwatts = 0;
    if (calls_.power_usage == nullptr || calls_.power_usage(device, &milliwatts) != kSuccess) { return std::nullopt; }
    return Watts{milliwatts / 1000.0};
  }

  NvmlCalls calls_;
  std::vector<Gpu> gpus_;
};

Error refusal(const NvmlCalls& calls, const char* call, int code) {
  return unavailable(fmt::format("{}: {}", call, calls.error_string(code)));
}

}  // namespace

Result<std::vector<std::string>> nvml_bus_ids(const NvmlCalls& calls) {
  if (calls.device_count == nullptr || calls.handle_by_index == nullptr || calls.bus_address == nullptr) {
    return unavailable("the driver's NVML is too old to name the machine's GPUs");
  }
  const InUse nvml(calls.init(), calls.shutdown);
  if (nvml.code() != kSuccess) { return refusal(calls, "nvmlInit", nvml.code()); }
  unsigned count = 0;
  if (const int code = calls.device_count(&count); code != kSuccess) { return refusal(calls, "nvmlDeviceGetCount", code); }
  std::vector<std::string> found;
  for (unsigned index = 0; index < count; ++index) {
    NvmlDevice device = nullptr;
    NvmlBusAddress address{};
    // One that this user may not see, or that has fallen off the bus, is none of the command's.
    if (calls.handle_by_index(index, &device) != kSuccess || calls.bus_address(device, &address) != kSuccess) { continue; }
    found.push_back(fmt::format("{:04x}:{:02x}:{:02x}.0", address.domain, address.bus, address.device));
  }
  return found;
}

Result<std::unique_ptr<EnergyMeter>> make_nvml_meter(const NvmlCalls& calls, std::span<const std::string> bus_ids) {
  if (const int code = calls.init(); code != kSuccess) {
    return unavailable(fmt::format("nvmlInit: {}", calls.error_string(code)));
  }
  auto meter = std::make_unique<NvmlMeter>(calls);
  for (const std::string& bus_id : bus_ids) {
    if (Status added = meter->add(bus_id); !added) { return added.error(); }
  }
  return std::unique_ptr<EnergyMeter>(std::move(meter));
}

}  // namespace elbowroom::counters
