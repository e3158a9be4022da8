#include "elbowroom/model/device_catalog.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>
#include <tuple>
#include <vector>

#include "elbowroom/model/device_facts.hpp"
#include "elbowroom/model/device_file.hpp"
#include "model/device_files.hpp"
#include "model/device_names.hpp"

namespace elbowroom {
namespace {

/// By vendor and architecture: sm_90 before sm_100, gfx90a before gfx942.
bool comes_before(const DeviceLimits& one, const DeviceLimits& other) {
  const auto key = [](const DeviceLimits& device) {
    int number = 0;
    const std::string& text = device.architecture;
    if (device.vendor == Vendor::nvidia) { std::from_chars(text.data() + 3, text.data() + text.size(), number); }
    return std::tuple(device.vendor, number, std::string_view(text), std::string_view(device.name));
  };
  return key(one) < key(other);
}

// A file that cannot be read is a defect that a test finds.
std::vector<DeviceLimits> compiled_in() {
  std::vector<DeviceLimits> devices;
  for (const std::string_view text : detail::device_files()) {
    devices.push_back(*parse_device(text, "a compiled in device file"));
  }
  std::ranges::sort(devices, comes_before);
  return devices;
}

/// The catalog's name nearest to `plain`.
std::string_view nearest_to(std::string_view plain) {
  std::string_view nearest;
  std::size_t least = std::string_view::npos;
  for (const DeviceLimits& device : device_catalog()) {
    const std::size_t apart = detail::letters_apart(plain.substr(0, 64), detail::plain_device_name(device.name));
    if (apart < least) { std::tie(nearest, least) = std::tuple(std::string_view(device.name), apart); }
  }
  return nearest;
}

}  // namespace

std::span<const DeviceLimits> device_catalog() {
  static const std::vector<DeviceLimits> catalog = compiled_in();
  return catalog;
}

bool is_named(const DeviceLimits& device, std::string_view name) {
  const std::string plain = detail::plain_device_name(name);
  if (plain == detail::plain_device_name(device.name) || plain == detail::plain_device_name(device.title)) { return true; }
  return device.facts != nullptr &&
         std::ranges::any_of(device.facts->names, [&](const std::string& one) { return plain == detail::plain_device_name(one); });
}

Result<DeviceLimits> find_device(std::string_view name) {
  std::vector<std::string_view> names;
  for (const DeviceLimits& device : device_catalog()) {
    if (is_named(device, name)) { return device; }
    names.emplace_back(device.name);
  }
  return invalid_input(fmt::format("device '{}' is not in the catalog, nearest is {}; expected one of {}", name,
                                   nearest_to(detail::plain_device_name(name)), fmt::join(names, ", ")));
}

std::string catalog_name(std::string_view driver_name, const DeviceLimits& live) {
  const auto same = [&](const DeviceLimits& known) { return known.architecture == live.architecture && known.sms == live.sms; };
  for (const DeviceLimits& known : device_catalog()) {
    if (same(known) && is_named(known, driver_name)) { return known.name; }
  }
  std::string word;
  std::string name(driver_name);
  name += ' ';
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      continue;
    }
    for (const DeviceLimits& known : device_catalog()) {
      if (known.name == word && same(known)) { return word; }
    }
    word.clear();
  }
  return live.architecture;
}

const DeviceFacts* facts_of(const DeviceLimits& device) {
  if (device.facts != nullptr) { return device.facts.get(); }
  const auto known = std::ranges::find(device_catalog(), device.name, &DeviceLimits::name);
  return known == device_catalog().end() ? nullptr : known->facts.get();
}

}  // namespace elbowroom
