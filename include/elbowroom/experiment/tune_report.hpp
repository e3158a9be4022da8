#pragma once

#include <string>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/experiment/tune_case.hpp"
#include "elbowroom/report/origin.hpp"

namespace elbowroom {

/// What was measured, the least time first, and what was chosen; every line but the candidates' begins with '#'.
ELBOWROOM_API std::string to_table(const TunedCase& tuned, Provenance provenance);

/// An `elbowroom.tune/1` document. `left_out`: controls that no plan was to set.
ELBOWROOM_API std::string to_json(const Origin& origin, const std::vector<std::string>& left_out,
                                  const std::vector<TunedCase>& cases);

}  // namespace elbowroom
