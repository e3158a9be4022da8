#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace elbowroom::detail {

/// `text` behind `head`, in lines of at most `width` columns, those after the first indented by `indent`. A word that is longer
/// stays whole. Ends with a line break.
std::string wrapped(std::string_view head, std::string_view text, std::size_t indent, std::size_t width);

/// Lines of at most `width` columns: a longer one goes on in the next line, a little further in, behind "#" where it began with
/// that.
std::string folded(std::string_view text, std::size_t width);

}  // namespace elbowroom::detail
