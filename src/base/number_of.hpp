#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace elbowroom::detail {

/// The number that is all of the text; absent where it is none, or none that fits.
template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && rest == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

}  // namespace elbowroom::detail
