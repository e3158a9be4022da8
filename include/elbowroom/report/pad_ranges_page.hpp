#pragma once

#include <string>

#include "elbowroom/base/export.hpp"

namespace elbowroom {

/// docs/pad-ranges.md: the pad ranges of a few typical kernels on every device of the catalog, as Markdown.
ELBOWROOM_API std::string pad_ranges_page();

}  // namespace elbowroom
