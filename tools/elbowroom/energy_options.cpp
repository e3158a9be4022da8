#include "energy_options.hpp"

#include <fmt/format.h>

#include "elbowroom/counters/open.hpp"

namespace elbowroom {

void add_energy_span(CLI::App& command, EnergySpanOption& option) {
  command.add_option("--energy-span", option.seconds,
                     "Seconds for which the energy of each schedule is measured; by default 300 moves of the counter");
}

Result<EnergySettings> energy_settings(const EnergySpanOption& option) {
  // Written so that NaN is refused.
  if (option.seconds && !(*option.seconds >= 0.01 && *option.seconds <= 3600)) {
    return invalid_input(fmt::format("--energy-span: {}, expected 0.01 to 3600 seconds", *option.seconds));
  }
  EnergySettings settings{open_energy_meter};
  if (option.seconds) { settings.span = Microseconds(*option.seconds * 1e6); }
  return settings;
}

}  // namespace elbowroom
