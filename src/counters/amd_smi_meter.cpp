#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "counters/amd_smi.hpp"
#include "counters/in_use.hpp"
#include "elbowroom/energy/sampler.hpp"

namespace elbowroom::counters {
namespace {

constexpr std::uint64_t kOfGpus = 2;  // AMDSMI_INIT_AMD_GPUS
constexpr int kJunction = 1;          // AMDSMI_TEMPERATURE_TYPE_JUNCTION
constexpr int kCurrent = 0;           // AMDSMI_TEMP_CURRENT
constexpr int kGraphicsClock = 0;     // AMDSMI_CLK_TYPE_GFX

/// "0000:c1:00.0" as the library packs it: function in 3 bits, device in 5, bus in 8, domain above. Absent for other texts.
std::optional<std::uint64_t> packed_bdf(std::string_view text) {
  std::array<std::uint64_t, 4> parts{};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const auto [rest, failure] = std::from_chars(at, end, parts[part], 16);
    if (failure != std::errc{}) { return std::nullopt; }
    at = rest;
    if (part + 1 == parts.size()) { break; }
    if (at == end || *at != (part == 2 ? '.' : ':')) { return std::nullopt; }
    ++at;
  }
  if (at != end || parts[3] > 7 || parts[2] > 31 || parts[1] > 255) { return std::nullopt; }
  return parts[0] << 16 | parts[1] << 8 | parts[2] << 3 | parts[3];
}

/// The other way round, of the physical function: partitions of one GPU are functions of one device.
std::string bus_id_of(std::uint64_t bdf) {
  return fmt::format("{:04x}:{:02x}:{:02x}.0", bdf >> 16, bdf >> 8 & 0xff, bdf >> 3 & 0x1f);
}

std::string words_of(const AmdSmiCalls& calls, int code) {
  const char* text = nullptr;
  const bool named = calls.status_text(code, &text) == 0 && text != nullptr;
  return named ? text : std::to_string(code);
}

class AmdSmiMeter final : public EnergyMeter {
 public:
  explicit AmdSmiMeter(const AmdSmiCalls& calls) : calls_(calls) {}
  ~AmdSmiMeter() override { calls_.shut_down(); }

  Status add(const std::string& bus_id) {
    const std::optional<std::uint64_t> bdf = packed_bdf(bus_id);
    if (!bdf) { return unavailable(fmt::format("'{}', expected a place on the bus such as 0000:c1:00.0", bus_id)); }
    Gpu gpu{nullptr, bus_id};
    if (Status found = check(calls_.handle_from_bdf(*bdf, &gpu.device), "amdsmi_get_processor_handle_from_bdf", bus_id); !found) {
      return found;
    }
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
    if (Status asked = check(code, "amdsmi_get_energy_count", gpus_[at].bus_id); !asked) { return asked.error(); }
    const double millijoules = static_cast<double>(count) * static_cast<double>(microjoules) / 1000;
    return CounterReading{(before + Sampler::now()) / 2, Millijoules(std::llround(millijoules))};
  }

  Result<GpuState> state(std::size_t at) override {
    GpuState state;
    std::int64_t celsius = 0;
    if (calls_.temperature != nullptr && calls_.temperature(gpus_[at].device, kJunction, kCurrent, &celsius) == 0) {
      state.celsius = static_cast<int>(celsius);
    }
    AmdSmiClock clock{};
    if (calls_.clock != nullptr && calls_.clock(gpus_[at].device, kGraphicsClock, &clock) == 0) {
      state.sm_mhz = static_cast<int>(clock.mhz);
    }
    return state;
  }

 private:
  struct Gpu {
    AmdSmiDevice device;
    std::string bus_id;
  };

  [[nodiscard]] Status check(int code, const char* call, const std::string& bus_id) const {
    if (code == 0) { return {}; }
    return unavailable(fmt::format("GPU {}: {}: {}", bus_id, call, words_of(calls_, code)));
  }

  AmdSmiCalls calls_;
  std::vector<Gpu> gpus_;
};

Error refused_init(int code) { return unavailable(fmt::format("amdsmi_init answers {}", code)); }

/// What `ask(count, handles)` lists: it is asked for the count first. The answer is its code.
template <class Ask>
int list(const Ask& ask, std::vector<void*>& handles) {
  std::uint32_t count = 0;
  if (const int code = ask(&count, nullptr); code != 0) { return code; }
  handles.resize(count);
  const int code = count > 0 ? ask(&count, handles.data()) : 0;
  handles.resize(std::min<std::size_t>(count, handles.size()));
  return code;
}

}  // namespace

Result<std::unique_ptr<EnergyMeter>> make_amd_smi_meter(const AmdSmiCalls& calls, std::span<const std::string> bus_ids) {
  if (const int code = calls.init(kOfGpus); code != 0) { return refused_init(code); }
  auto meter = std::make_unique<AmdSmiMeter>(calls);
  for (const std::string& bus_id : bus_ids) {
    if (Status added = meter->add(bus_id); !added) { return added.error(); }
  }
  return std::unique_ptr<EnergyMeter>(std::move(meter));
}

Result<std::vector<std::string>> amd_smi_bus_ids(const AmdSmiCalls& calls) {
  if (calls.sockets == nullptr || calls.devices == nullptr || calls.bdf_of == nullptr) {
    return unavailable("the driver's AMD SMI is too old to name the machine's GPUs");
  }
  const InUse library(calls.init(kOfGpus), calls.shut_down);
  if (library.code() != 0) { return refused_init(library.code()); }
  std::vector<AmdSmiSocket> sockets;
  if (const int code = list([&](auto* count, void** into) { return calls.sockets(count, into); }, sockets); code != 0) {
    return unavailable(fmt::format("amdsmi_get_socket_handles: {}", words_of(calls, code)));
  }
  std::vector<std::string> found;
  for (const AmdSmiSocket socket : sockets) {
    std::vector<AmdSmiDevice> devices;
    // What this user may not see is none of the command's.
    if (list([&](auto* count, void** into) { return calls.devices(socket, count, into); }, devices) != 0) { continue; }
    for (const AmdSmiDevice device : devices) {
      std::uint64_t bdf = 0;
      if (calls.bdf_of(device, &bdf) != 0) { continue; }
      std::string bus_id = bus_id_of(bdf);
      if (std::ranges::find(found, bus_id) == found.end()) { found.push_back(std::move(bus_id)); }
    }
  }
  return found;
}

}  // namespace elbowroom::counters
