#include "run/durations.hpp"

#include <charconv>
#include <system_error>

namespace elbowroom::run {
namespace {

std::optional<std::uint32_t> parse_nanoseconds(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0) { return std::nullopt; }
  return number;
}

}  // namespace

std::string durations_text(std::span<const LearnedDuration> durations) {
  DeviceText text;
  for (const LearnedDuration& duration : durations) {
    text.on(duration.device).append(key_text(duration.kind)).append(" ").append(std::to_string(duration.nanoseconds)).append("\n");
  }
  return text.taken();
}

std::optional<LearnedDuration> DurationLines::next() {
  std::string_view line;
  if (wrong_ != 0 || !lines_.next(line)) { return std::nullopt; }
  const bool has_both = line.size() > kKeyDigits && line[kKeyDigits] == ' ';
  const auto kind = has_both ? parse_key(line.substr(0, kKeyDigits)) : std::nullopt;
  const auto nanoseconds = kind ? parse_nanoseconds(line.substr(kKeyDigits + 1)) : std::nullopt;
  if (nanoseconds) { return LearnedDuration{lines_.device(), *kind, *nanoseconds}; }
  wrong_ = lines_.number();
  return std::nullopt;
}

}  // namespace elbowroom::run
