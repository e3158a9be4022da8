#pragma once

#include <string>
#include <string_view>

namespace elbowroom::detail {

/// Text that neither ends a cell or line of Markdown nor opens a tag.
std::string escaped(std::string_view text);

}  // namespace elbowroom::detail
