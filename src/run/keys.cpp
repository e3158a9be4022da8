#include "run/keys.hpp"

namespace elbowroom::run {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

}  // namespace

std::optional<Key> parse_key(std::string_view text) {
  if (text.size() != kKeyDigits) { return std::nullopt; }
  Key key = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) { return std::nullopt; }
    key = key << 4U | digit;
  }
  return key == 0 ? std::nullopt : std::optional(key);
}

std::string key_text(Key key) {
  std::string text(kKeyDigits, '0');
  for (std::size_t at = kKeyDigits; at > 0; key >>= 4U) { text[--at] = kDigits[key & 0xfU]; }
  return text;
}

}  // namespace elbowroom::run
