#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace elbowroom::explain {

/// Where a walk over JSON is: outside of strings, inside of `depth` brackets.
struct Bracketed {
  std::size_t at = 0;
  std::size_t depth = 0;  ///< at least 1
};

/// The place behind the bracket that closes the outermost one, looked for 64 bytes at a time. Absent where the text goes on, or
/// where the next 64 bytes have a backslash or are not all there: `from` is as far as it came then.
std::optional<std::size_t> behind_brackets(std::string_view text, Bracketed& from);

}  // namespace elbowroom::explain
