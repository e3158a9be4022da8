#include "device_option.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "elbowroom/base/environment.hpp"
#include "elbowroom/model/device_catalog.hpp"
#include "elbowroom/model/device_file.hpp"
#include "output.hpp"

namespace elbowroom {
namespace {

namespace fs = std::filesystem;

Result<DeviceLimits> device_in(const std::string& file) {
  const Result<std::string> text = read_file(file);
  return text ? parse_device(*text, file) : Result<DeviceLimits>(text.error());
}

Result<std::vector<std::string>> device_files_in(const fs::path& folder) {
  std::error_code failure;
  std::vector<std::string> files;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure)) {
    if (entry->path().extension() == ".json") { files.push_back(entry->path().string()); }
  }
  if (failure) { return invalid_input(fmt::format("{}: {}: {}", kDevicePath.name, folder.string(), failure.message())); }
  std::ranges::sort(files);
  return files;
}

Result<std::optional<DeviceLimits>> found_on_path(std::string_view name) {
  const std::string path = read(kDevicePath).value_or("");
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string folder = path.substr(begin, end - begin);
    begin = end + 1;
    if (folder.empty()) { continue; }
    const Result<std::vector<std::string>> files = device_files_in(folder);
    if (!files) { return files.error(); }
    for (const std::string& file : *files) {
      Result<DeviceLimits> device = device_in(file);
      if (!device) { return device.error(); }
      if (is_named(*device, name)) { return std::optional(std::move(*device)); }
    }
  }
  return std::optional<DeviceLimits>();
}

Result<DeviceLimits> device_named(std::string_view option) {
  if (option.find('/') != std::string_view::npos || option.ends_with(".json")) { return device_in(std::string(option)); }
  Result<std::optional<DeviceLimits>> found = found_on_path(option);
  if (!found) { return found.error(); }
  return *found ? Result<DeviceLimits>(std::move(**found)) : find_device(option);
}

}  // namespace

Result<std::optional<DeviceLimits>> described_device(std::string_view option) {
  if (option == "auto") { return std::optional<DeviceLimits>(); }
  Result<DeviceLimits> device = device_named(option);
  if (!device) { return Error{device.error().kind, fmt::format("--device: {}", device.error().message)}; }
  return std::optional(std::move(*device));
}

}  // namespace elbowroom
