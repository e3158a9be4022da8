#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "counters/amd_smi.hpp"
#include "elbowroom/energy/sampler.hpp"

namespace elbowroom::counters {
namespace {

constexpr std::uint64_t kOfGpus = 2;  // AMDSMI_INIT_AMD_GPUS
constexpr int kJunction = 1;          // AMDSMI_TEMPERATURE_TYPE_JUNCTION
constexpr int kCurrent = 0;           // AMDSMI_TEMP_CURRENT

/// "0000:c1:00.0" as the library packs it: function in 3 bits, device in 5, bus in 8, domain above. Absent for other texts.
std::optional<std::uint64_t> packed_bdf(std::string_view text) {
  std::array<std::uint64_t, 4> parts{};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const auto [rest, failure] = std::from_chars(at, end, parts[part], 16);
    if (failure != std::errc{}) return std::nullopt;
    at = rest;
    if (part + 1 == parts.size()) break;
    if (at == end || *at != (part == 2 ? '.' : ':')) return std::nullopt;
    ++at;
  }
  if (at != end || parts[3] > 7 || parts[2] > 31 || parts[1] > 255) return std::nullopt;
  return parts[0] << 16 | parts[1] << 8 | parts[2] << 3 | parts[3];
}

class AmdSmiMeter final : public EnergyMeter {
 public:
  explicit AmdSmiMeter(const AmdSmiCalls& calls) : calls_(calls) {}
  ~AmdSmiMeter() override { calls_.shut_down(); }

  Status add(const std::string& bus_id) {
    const std::optional<std::uint64_t> bdf = packed_bdf(bus_id);
    if (!bdf) return unavailable(fmt::format("'{}', expected a place on the bus such as 0000:c1:00.0", bus_id));
    Gpu gpu{nullptr, bus_id};
    if (Status found = check(calls_.handle_from_bdf(*bdf, &gpu.device), "amdsmi_get_processor_handle_from_bdf", bus_id); !found)
      return found;
    gpus_.push_back(gpu);
    const Result<CounterReading> first = read(gpus_.size() - 1);
    return first ? Status() : Status(first.error());
  }

  [[nodiscard]] std::string_view library() const override { return "amdsmi"; }
  [[nodiscard]] std::size_t gpus() const override { return gpus_.size(); }

  Result<CounterReading> read(std::size_t at) override {
    std::uint64_t count = 0;
    float microjoules = 0;
    std::uint64_t timestamp = 0;
    const Microseconds before = Sampler::now();
    const int code = calls_.energy_count(gpus_[at].device, &count, &microjoules, &timestamp);
    if (Status asked = check(code, "amdsmi_get_energy_count", gpus_[at].bus_id); !asked) return asked.error();
    const double millijoules = static_cast<double>(count) * static_cast<double>(microjoules) / 1000;
    return CounterReading{(before + Sampler::now()) / 2, Millijoules(std::llround(millijoules))};
  }

  Result<GpuState> state(std::size_t at) override {
    GpuState state;
    std::int64_t celsius = 0;
    if (calls_.temperature != nullptr && calls_.temperature(gpus_[at].device, kJunction, kCurrent, &celsius) == 0)
      state.celsius = static_cast<int>(celsius);
    return state;
  }

 private:
  struct Gpu {
    AmdSmiDevice device;
    std::string bus_id;
  };

  [[nodiscard]] Status check(int code, const char* call, const std::string& bus_id) const {
    if (code == 0) return {};
    const char* text = nullptr;
    const bool named = calls_.status_text(code, &text) == 0 && text != nullptr;
    return unavailable(fmt::format("GPU {}: {}: {}", bus_id, call, named ? text : std::to_string(code)));
  }

  AmdSmiCalls calls_;
  std::vector<Gpu> gpus_;
};

}  // namespace

Result<std::unique_ptr<EnergyMeter>> make_amd_smi_meter(const AmdSmiCalls& calls, std::span<const std::string> bus_ids) {
  if (const int code = calls.init(kOfGpus); code != 0) return unavailable(fmt::format("amdsmi_init answers {}", code));
  auto meter = std::make_unique<AmdSmiMeter>(calls);
  for (const std::string& bus_id : bus_ids) {
    if (Status added = meter->add(bus_id); !added) return added.error();
  }
  return std::unique_ptr<EnergyMeter>(std::move(meter));
}

}  // namespace elbowroom::counters
