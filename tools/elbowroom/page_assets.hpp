#pragma once

#include "elbowroom/base/result.hpp"
#include "page/html.hpp"

namespace elbowroom::page {

/// What the build put into the program. `unavailable` names what was missing when it was built.
Result<Assets> embedded_assets();

}  // namespace elbowroom::page
