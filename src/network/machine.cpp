#include "elbowroom/network/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace elbowroom {
namespace {

// Fitted to all-reduces of 1 MiB to 1 GiB among 2, 4 and 8 A100 (docs/results/scale.md): 235 of the data sheet's 300 GB/s one way.
// Other links take the same times and shares.
HostLinks links(double rate, double switch_share = 0) {
  return {rate, 0.47, 0.57, Microseconds(29), Microseconds(7.9), switch_share};
}

// What NCCL 2.30's tuner takes for NVLS (nvlsEfficiency, src/graph/tuning.cc); nothing was measured.
constexpr double kHopperSwitches = 0.85;
constexpr double kBlackwellSwitches = 0.74;

// The share is fitted to iterations of Megatron's GPT on 64 to 512 A100 (docs/results/scale.md), and taken over for others.
Rails rails(int adapters, double rate) { return {adapters, rate, 0.78}; }

constexpr double k200Gigabits = 25e3;
constexpr double k400Gigabits = 50e3;

}  // namespace

std::span<const MachineSpec> machine_catalog() {
  // Of H100 and H200 what rings of four reach on H200 (docs/simulator.md), of B200 twice that; MI300X as its performance's link
  // rate.
  static const std::array catalog{
      MachineSpec{"a100-4x200", "a100", 8, links(235e3), rails(4, k200Gigabits)},
      MachineSpec{"a100-8x200", "a100", 8, links(235e3), rails(8, k200Gigabits)},
      MachineSpec{"h100-8x400", "h100", 8, links(393e3, kHopperSwitches), rails(8, k400Gigabits)},
      MachineSpec{"h200-8x400", "h200", 8, links(393e3, kHopperSwitches), rails(8, k400Gigabits)},
      MachineSpec{"b200-8x400", "b200", 8, links(782e3, kBlackwellSwitches), rails(8, k400Gigabits)},
      MachineSpec{"mi300x-8x400", "mi300x", 8, links(350e3), rails(8, k400Gigabits)},
  };
  return catalog;
}

Result<MachineSpec> find_machine(std::string_view name) {
  const auto catalog = machine_catalog();
  const auto found = std::ranges::find(catalog, name, &MachineSpec::name);
  if (found != catalog.end()) { return *found; }
  std::string names;
  for (const MachineSpec& machine : catalog) { names += fmt::format("{}{}", names.empty() ? "" : ", ", machine.name); }
  return invalid_input(fmt::format("'{}', expected one of {}", name, names));
}

std::optional<MachineSpec> machine_with(std::string_view device) {
  const auto catalog = machine_catalog();
  const auto found = std::ranges::find(catalog, device, &MachineSpec::device);
  return found == catalog.end() ? std::nullopt : std::optional(*found);
}

}  // namespace elbowroom
