#pragma once

#include <optional>
#include <string>

#include "page/reading.hpp"

namespace elbowroom::page {

/// Joules of schedules on one scale, from the member `energy` of each.
class EnergyView {
 public:
  /// A row of the schedule, if it has joules.
  void add(Members& schedule, const std::string& label, const std::optional<std::string>& detail);

  /// Adds the picture, or the line in `no_energy` of the case that says why there is none. Nothing where nobody asked.
  void add_to(Section& section, Members& one_case) &&;

 private:
  Times times_{"Energy of an iteration, all GPUs together", "J", {}, {}, "least"};
};

}  // namespace elbowroom::page
