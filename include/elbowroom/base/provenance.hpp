#pragma once

#include <string_view>

namespace elbowroom {

/// Whether a figure was seen on a device or computed by the simulator. Every table, file and page carries it.
enum class Provenance { measured, simulated };

constexpr std::string_view to_string(Provenance provenance) {
  return provenance == Provenance::measured ? "measured" : "simulated";
}

}  // namespace elbowroom
