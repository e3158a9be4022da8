#include "interposer/core/known_durations.hpp"

#include <charconv>
#include <string_view>

namespace elbowroom::interposer {
namespace {

constexpr std::string_view kDevice = "device ";
constexpr std::size_t kDigits = 16;

template <class Number>
bool parse_number(std::string_view text, int base, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end == text.data() + text.size() && number > 0;
}

}  // namespace

std::size_t parse_durations(const char* text, std::size_t size, const char* device, KnownDurations& known) {
  std::string_view rest(text, size);
  bool meant = false;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (line.substr(0, kDevice.size()) == kDevice) {
      meant = line.substr(kDevice.size()) == device;
      continue;
    }
    std::uint64_t kind = 0;
    std::uint32_t nanoseconds = 0;
    const bool has_both = line.size() > kDigits + 1 && line[kDigits] == ' ';
    if (!has_both || !parse_number(line.substr(0, kDigits), 16, kind) || !parse_number(line.substr(kDigits + 1), 10, nanoseconds)) {
      return number;
    }
    if (meant) { known.add(kind, nanoseconds); }
  }
  return 0;
}

}  // namespace elbowroom::interposer
