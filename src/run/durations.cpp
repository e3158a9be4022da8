#include "run/durations.hpp"

#include <charconv>
#include <system_error>

namespace elbowroom::run {
namespace {

constexpr std::string_view kDevice = "device ";
constexpr std::string_view kDigits = "0123456789abcdef";

std::string kind_text(KindKey kind) {
  std::string text(kKindDigits, '0');
  for (std::size_t at = kKindDigits; at > 0; kind >>= 4U) { text[--at] = kDigits[kind & 0xfU]; }
  return text;
}

std::optional<std::uint32_t> parse_nanoseconds(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0) { return std::nullopt; }
  return number;
}

}  // namespace

std::optional<KindKey> parse_kind(std::string_view text) {
  if (text.size() != kKindDigits) { return std::nullopt; }
  KindKey kind = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) { return std::nullopt; }
    kind = kind << 4U | digit;
  }
  return kind == 0 ? std::nullopt : std::optional(kind);
}

std::string durations_text(std::span<const LearnedDuration> durations) {
  std::string text;
  std::string_view device;
  for (const LearnedDuration& duration : durations) {
    if (duration.device != device) {
      device = duration.device;
      text.append(kDevice).append(device).append("\n");
    }
    text.append(kind_text(duration.kind)).append(" ").append(std::to_string(duration.nanoseconds)).append("\n");
  }
  return text;
}

std::optional<LearnedDuration> DurationLines::next() {
  while (!rest_.empty() && wrong_ == 0) {
    ++number_;
    const std::size_t end = rest_.find('\n');
    const std::string_view line = rest_.substr(0, end);
    rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
    if (line.starts_with(kDevice)) {
      device_ = line.substr(kDevice.size());
      continue;
    }
    const bool has_both = line.size() > kKindDigits && line[kKindDigits] == ' ';
    const auto kind = has_both ? parse_kind(line.substr(0, kKindDigits)) : std::nullopt;
    const auto nanoseconds = kind ? parse_nanoseconds(line.substr(kKindDigits + 1)) : std::nullopt;
    if (nanoseconds) { return LearnedDuration{device_, *kind, *nanoseconds}; }
    wrong_ = number_;
  }
  return std::nullopt;
}

}  // namespace elbowroom::run
