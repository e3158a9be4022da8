#include "backend_gpu/library_settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>

namespace elbowroom::gpu {

std::vector<std::pair<std::string, std::string>> library_settings(std::span<const std::string_view> prefixes,
                                                                  std::span<const std::string_view> names) {
  std::vector<std::pair<std::string, std::string>> settings;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    const bool shapes = std::ranges::find(names, name) != names.end() ||
                        std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
    if (equals != std::string_view::npos && shapes) { settings.emplace_back(name, text.substr(equals + 1)); }
  }
  std::ranges::sort(settings);
  return settings;
}

}  // namespace elbowroom::gpu
