#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace elbowroom::run {

/// Names what is the same in every process: a kind of launches, a sequence of collectives. Never 0.
using Key = std::uint64_t;

/// As reports, profiles and files of the protocol write it: sixteen lower-case hexadecimal digits.
inline constexpr std::size_t kKeyDigits = 16;
std::optional<Key> parse_key(std::string_view text);
std::string key_text(Key key);

}  // namespace elbowroom::run
