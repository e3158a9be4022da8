#pragma once

#include <string>
#include <string_view>

#include "elbowroom/report/origin.hpp"

namespace elbowroom::detail {

/// Text that neither ends a cell or line of Markdown nor opens a tag.
std::string escaped(std::string_view text);

/// What a file of Markdown begins with: its schema, and where its figures come from.
std::string markdown_head(const Origin& origin);

}  // namespace elbowroom::detail
