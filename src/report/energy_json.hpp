#pragma once

#include "elbowroom/energy/scheme_energy.hpp"
#include "elbowroom/report/run_energy.hpp"
#include "report/json_values.hpp"

namespace elbowroom::detail {

/// The member `energy` of a schedule in a result or tune document.
OrderedJson energy_json(const SchemeEnergy& energy);
OrderedJson energy_json(const RunEnergy& energy);

}  // namespace elbowroom::detail
