#pragma once

#include <string>

#include "elbowroom/base/export.hpp"

namespace elbowroom {

/// docs/shared-memory-windows.md: the residency windows of a few typical kernels on every device of the catalog, as Markdown.
ELBOWROOM_API std::string shared_memory_windows_page();

}  // namespace elbowroom
