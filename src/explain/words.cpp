#include "explain/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "elbowroom/model/device_catalog.hpp"
#include "report/display_width.hpp"

namespace elbowroom::explain {
namespace {

constexpr std::size_t kMostLetters = 48;

/// Without what stands in angle brackets and parentheses.
std::string without_brackets(std::string_view name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  std::string result;
  int depth = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (depth == 0 && name.substr(at).starts_with(kAnonymous)) {
      at += kAnonymous.size() - 1;
      continue;
    }
    const char c = name[at];
    if (c == '<' || c == '(' || c == '{') {
      ++depth;
    } else if (c == '>' || c == ')' || c == '}') {
      depth = std::max(depth - 1, 0);
    } else if (depth == 0) {
      result += c;
    }
  }
  return result;
}

}  // namespace

std::string duration(Time time) {
  const double us = static_cast<double>(time) / 1000;
  const auto [value, unit] = us >= 1e6 ? std::pair(us / 1e6, "s") : us >= 1e3 ? std::pair(us / 1e3, "ms") : std::pair(us, "us");
  const int decimals = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return fmt::format("{:.{}f} {}", value, decimals, unit);
}

std::string size_words(std::int64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (value >= 1024.0 * 1024 * 1024) { return fmt::format("{:.3g} GiB", value / (1024.0 * 1024 * 1024)); }
  if (value >= 1024.0 * 1024) { return fmt::format("{:.3g} MiB", value / (1024.0 * 1024)); }
  if (value >= 1024) { return fmt::format("{:.3g} KiB", value / 1024); }
  return fmt::format("{} B", bytes);
}

std::string short_name(std::string_view name) {
  std::string bare = without_brackets(name);
  if (const auto colons = bare.rfind("::"); colons != std::string::npos && colons + 2 < bare.size()) { bare.erase(0, colons + 2); }
  if (const auto space = bare.find_last_of(' '); space != std::string::npos && bare.starts_with("void ")) {
    bare.erase(0, space + 1);
  }
  if (bare.empty()) { bare = name; }
  return detail::fitted(bare, kMostLetters);
}

std::string kernel_words(const Trace& trace, std::size_t row) {
  const std::string& name = trace.texts.text(trace.rows.name[row]);
  // "Memcpy HtoD (Pinned -> Device)" is no name of C++.
  return trace.rows.kind[row] == RowKind::kernel ? short_name(name) : detail::fitted(name, kMostLetters);
}

std::string stream_words(const Trace& trace, std::uint32_t stream) { return trace.texts.text(trace.streams[stream].number); }

std::string device_name(const Trace& trace) {
  if (trace.rows.size() == 0) { return ""; }
  const std::string& id = trace.texts.text(trace.streams[trace.rows.stream.front()].device);
  const auto found = std::find_if(trace.devices.begin(), trace.devices.end(), [&](const Device& one) { return one.id == id; });
  if (found != trace.devices.end()) { return found->name; }
  return trace.devices.empty() ? "" : trace.devices.front().name;
}

std::optional<DeviceLimits> catalog_device(const Trace& trace) {
  std::string words;
  for (const char c : device_name(trace)) {
    words +=
        std::isalnum(static_cast<unsigned char>(c)) != 0 ? static_cast<char>(std::tolower(static_cast<unsigned char>(c))) : ' ';
  }
  words = ' ' + words + ' ';
  for (const DeviceLimits& one : device_catalog()) {
    if (words.find(' ' + one.name + ' ') == std::string::npos) { continue; }
    const bool other_size = std::any_of(trace.devices.begin(), trace.devices.end(),
                                        [&](const Device& device) { return device.sms && *device.sms != one.sms.count(); });
    if (!other_size) { return one; }
  }
  return std::nullopt;
}

}  // namespace elbowroom::explain
