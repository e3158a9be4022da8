#pragma once

#include <string>

#include "elbowroom/base/export.hpp"

namespace elbowroom {

struct ResultDocument;

/// A line for each case: its best scheme, that scheme's time and reduction. Then how often each scheme is best, and the median
/// reduction. All lines begin with `#`.
ELBOWROOM_API std::string summary_table(const ResultDocument& document);

}  // namespace elbowroom
