#pragma once

#include <string>

#include "headroom/base/export.hpp"

namespace headroom {

/// docs/shared-memory-windows.md: the residency windows of a few typical kernels on every device of the catalog, as Markdown.
HEADROOM_API std::string shared_memory_windows_page();

}  // namespace headroom
