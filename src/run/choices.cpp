#include "run/choices.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "run/limits.hpp"

namespace elbowroom::run {
namespace {

/// "00000000000000a1 22809 priority, gate"
std::optional<KnownChoice> parse_choice(std::string_view device, std::string_view line) {
  if (line.size() <= kKeyDigits || line[kKeyDigits] != ' ') { return std::nullopt; }
  const auto sequence = parse_key(line.substr(0, kKeyDigits));
  line.remove_prefix(kKeyDigits + 1);
  std::uint32_t library = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), library);
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  if (!sequence || error != std::errc() || !line.starts_with(' ') || !is_arm(line.substr(1))) { return std::nullopt; }
  return KnownChoice{device, library, *sequence, line.substr(1)};
}

}  // namespace

bool is_arm(std::string_view text) {
  const auto printable = [](char c) { return c >= ' ' && c <= '~'; };
  return !text.empty() && text.size() <= kLongestArm && text.front() != ' ' && text.back() != ' ' &&
         std::ranges::all_of(text, printable);
}

std::string choices_text(std::span<const KnownChoice> choices) {
  DeviceText text;
  for (const KnownChoice& choice : choices) {
    text.on(choice.device)
        .append(key_text(choice.sequence))
        .append(" ")
        .append(std::to_string(choice.library))
        .append(" ")
        .append(choice.arm)
        .append("\n");
  }
  return text.taken();
}

std::optional<KnownChoice> ChoiceLines::next() {
  std::string_view line;
  if (wrong_ != 0 || !lines_.next(line)) { return std::nullopt; }
  const auto choice = parse_choice(lines_.device(), line);
  if (!choice) { wrong_ = lines_.number(); }
  return choice;
}

}  // namespace elbowroom::run
