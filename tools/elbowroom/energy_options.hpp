#pragma once

#include <CLI/CLI.hpp>
#include <optional>

#include "elbowroom/base/result.hpp"
#include "elbowroom/experiment/energy_settings.hpp"

namespace elbowroom {

/// How long the energy of a schedule is measured; absent: as long as the counter needs.
struct EnergySpanOption {
  std::optional<double> seconds;
};

void add_energy_span(CLI::App& command, EnergySpanOption& option);

/// With this machine's counters. `invalid_input` names the option.
Result<EnergySettings> energy_settings(const EnergySpanOption& option);

}  // namespace elbowroom
