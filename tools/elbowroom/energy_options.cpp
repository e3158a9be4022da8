#include "energy_options.hpp"

#include <fmt/format.h>

#include "elbowroom/counters/open.hpp"

namespace elbowroom {

void add_energy_window(CLI::App& command, EnergyWindowOption& option) {
  command.add_option("--energy-window", option.seconds,
                     "Seconds for which the energy of each schedule is measured; by default 300 moves of the counter");
}

Result<EnergySettings> energy_settings(const EnergyWindowOption& option) {
  // Written so that NaN is refused.
  if (option.seconds && !(*option.seconds >= 0.01 && *option.seconds <= 3600)) {
    return invalid_input(fmt::format("--energy-window: {}, expected 0.01 to 3600 seconds", *option.seconds));
  }
  EnergySettings settings{open_energy_meter};
  if (option.seconds) { settings.window = Microseconds(*option.seconds * 1e6); }
  return settings;
}

}  // namespace elbowroom
