#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace elbowroom::detail {

/// Columns that a terminal needs for UTF-8 text: two for characters of East Asia and pictures, none for marks that stand on
/// another.
std::size_t display_width(std::string_view text);

/// What fits into so many columns: the whole text, or its begin and an ellipsis.
std::string fitted(std::string_view text, std::size_t columns);

}  // namespace elbowroom::detail
