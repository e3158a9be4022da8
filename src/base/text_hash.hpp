#pragma once

#include <cstdint>
#include <string_view>

namespace elbowroom::detail {

/// FNV-1a: names a thing after a text. Who must be sure keeps the text as well.
constexpr std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char c : text) { hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL; }
  return hash;
}

}  // namespace elbowroom::detail
