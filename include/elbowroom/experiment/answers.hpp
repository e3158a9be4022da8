#pragma once

#include <string>
#include <vector>

#include "elbowroom/base/export.hpp"

namespace elbowroom {

struct ResultDocument;

/// A line for each case whose best scheme saves less than `percent`.
ELBOWROOM_API std::vector<std::string> cases_below(const ResultDocument& document, double percent);

/// A line for each scheme and plan that was asked for and could not act.
ELBOWROOM_API std::vector<std::string> refused_requests(const ResultDocument& document);

}  // namespace elbowroom
