#pragma once

#include <vector>

#include "elbowroom/model/step.hpp"

namespace elbowroom::detail {

/// Of each operation the first one that shares its memory (`shares_memory`): itself, or an earlier one.
std::vector<int> first_sharing_memory(const Step& step);

}  // namespace elbowroom::detail
