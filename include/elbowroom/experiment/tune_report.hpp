#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/experiment/tune_case.hpp"
#include "elbowroom/report/origin.hpp"
#include "elbowroom/report/table_width.hpp"

namespace elbowroom {

/// What was measured, the least time first, and what was chosen; every line but the candidates' begins with '#'. Where it is wider
/// than `width`, the columns between interval and plan are left out.
ELBOWROOM_API std::string to_table(const TunedCase& tuned, const Origin& origin, std::size_t width = kAnyWidth);

/// An `elbowroom.tune/1` document. `left_out`: controls that no plan was to set.
ELBOWROOM_API std::string to_json(const Origin& origin, const std::vector<std::string>& left_out,
                                  const std::vector<TunedCase>& cases);

}  // namespace elbowroom
