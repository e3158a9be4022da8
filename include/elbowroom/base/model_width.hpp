#pragma once

#include <string>
#include <string_view>

namespace elbowroom {

/// What the simulator's times of a device rest on.
enum class Basis {
  fitted,        ///< constants were chosen from rows measured on this device
  compared,      ///< none was, but times measured on it were set against the simulator's
  extrapolated,  ///< nothing was measured on it
};

constexpr std::string_view to_string(Basis basis) {
  switch (basis) {
    case Basis::fitted:
      return "fitted";
    case Basis::compared:
      return "compared";
    case Basis::extrapolated:
      break;
  }
  return "extrapolated";
}

/// How far the simulator's times of a device may lie from the device's own. Every table and document of simulated times carries it.
struct ModelWidth {
  Basis basis = Basis::extrapolated;
  double width = 0;    ///< to either side, as a share of the simulated time; of an extrapolated device the least to expect
  std::string source;  ///< the comparison that the width is taken from, in words
};

}  // namespace elbowroom
