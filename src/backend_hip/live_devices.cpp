#include "backend_hip/live_devices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>

#include "backend_gpu/library_settings.hpp"
#include "base/driver_version.hpp"
#include "elbowroom/model/device_catalog.hpp"

namespace elbowroom::hip {
namespace {

struct Texts {
  std::string name;
  std::string target;
};

std::string text_at(const std::array<char, kPropertiesRoom>& properties, std::size_t offset) {
  const char* const begin = properties.data() + offset;
  return {begin, strnlen(begin, kPropertiesText)};
}

Result<Texts> texts_of(const HipLibrary& hip, int device) {
  std::array<char, kPropertiesRoom> properties{};
  const PropertiesLayout& layout = hip.properties_layout();
  if (Status read = hip.runtime().check(hip.functions.get_device_properties(properties.data(), device), layout.function); !read) {
    return read.error();
  }
  return Texts{text_at(properties, layout.name), text_at(properties, layout.architecture)};
}

/// Compute units of GCN 5 and CDNA 1, whose vector registers are half as many as those of CDNA 2.
DeviceLimits before_cdna2(const std::string& architecture) {
  DeviceLimits limits = *find_device("mi250x");
  limits.architecture = architecture;
  limits.max_registers_per_thread = Registers(256);
  limits.registers_per_sm = limits.max_registers_per_thread * limits.warp.count() * limits.sub_partitions;
  limits.register_granule = Registers(4) * limits.warp.count();
  limits.max_threads_per_sm = limits.warp * 10 * limits.sub_partitions;
  limits.max_blocks_per_sm = BlocksPerSm(std::int64_t{10} * limits.sub_partitions);
  return limits;
}

/// Absent where the runtime does not say.
std::optional<std::string> bus_id(const HipLibrary& hip, int device) {
  std::array<char, 32> text{};
  const int asked = hip.functions.device_get_pci_bus_id(text.data(), static_cast<int>(text.size()), device);
  return asked == gpu::kSuccess ? std::optional<std::string>(text.data()) : std::nullopt;
}

/// Overrides `limit` with the device's own answer where it gives one.
template <class Amount>
Status read_limit(const HipLibrary& hip, DeviceAttribute which, int device, Amount& limit) {
  const Result<int> value = hip.attribute(which, device);
  if (!value) { return value.error(); }
  if (*value > 0) { limit = Amount(*value); }
  return {};
}

Result<DeviceLimits> limits_of(const HipLibrary& hip, int device, const Texts& texts) {
  Result<DeviceLimits> limits = architecture_limits(texts.target.substr(0, texts.target.find(':')));
  if (!limits) { return unavailable(fmt::format("GPU {} ({}): {}", device, texts.name, limits.error().message)); }
  for (const Status& read : {
           read_limit(hip, DeviceAttribute::compute_units, device, limits->sms),
           read_limit(hip, DeviceAttribute::max_threads_per_block, device, limits->max_threads_per_block),
           read_limit(hip, DeviceAttribute::max_threads_per_cu, device, limits->max_threads_per_sm),
           read_limit(hip, DeviceAttribute::max_shared_per_block, device, limits->shared_per_block),
           read_limit(hip, DeviceAttribute::max_shared_per_cu, device, limits->shared_per_sm),
       }) {
    if (!read) { return read.error(); }
  }
  limits->name = catalog_name(texts.name, *limits);
  limits->title = texts.name;
  limits->facts.reset();  // of the catalog's device of that architecture
  limits->source = "read from the device";
  return limits;
}

// What is told to RCCL and HIP.
constexpr std::array<std::string_view, 4> kPrefixes{"NCCL_", "RCCL_", "HSA_", "GPU_MAX_HW_QUEUES"};
constexpr std::array<std::string_view, 3> kNames{"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "DEBUG_HIP_IGNORE_STREAM_PRIORITY"};

}  // namespace

Result<DeviceLimits> architecture_limits(const std::string& architecture) {
  std::vector<std::string> known{"gfx906", "gfx908"};
  if (std::ranges::find(known, architecture) != known.end()) { return before_cdna2(architecture); }
  for (const DeviceLimits& entry : device_catalog()) {
    if (entry.vendor != Vendor::amd) { continue; }
    if (entry.architecture == architecture) { return entry; }
    if (known.back() != entry.architecture) { known.push_back(entry.architecture); }
  }
  return unavailable(
      fmt::format("architecture {}, expected one of {}; HIP_VISIBLE_DEVICES hides devices", architecture, fmt::join(known, ", ")));
}

Result<LiveDevices> live_devices(const HipLibrary& hip) {
  int count = 0;
  const int asked = hip.functions.get_device_count(&count);
  if (asked != gpu::kSuccess && asked != kHipErrorNoDevice) {
    return unavailable(hip.runtime().check(asked, "hipGetDeviceCount").error().message);
  }
  if (count == 0) { return unavailable(fmt::format("HIP {} shows no GPU", hip.version())); }

  LiveDevices devices;
  for (int device = 0; device < count; ++device) {
    const Result<Texts> texts = texts_of(hip, device);
    if (!texts) { return unavailable(texts.error().message); }
    Result<DeviceLimits> limits = limits_of(hip, device, *texts);
    if (!limits) { return unavailable(limits.error().message); }
    std::size_t memory = 0;
    if (Status read = hip.runtime().check(hip.functions.device_total_mem(&memory, device), "hipDeviceTotalMem"); !read) {
      return unavailable(read.error().message);
    }
    devices.infos.push_back(
        {device, texts->name, std::move(*limits), Bytes(static_cast<std::int64_t>(memory)), std::nullopt, bus_id(hip, device)});
    devices.targets.push_back(texts->target);
  }
  return devices;
}

std::vector<std::pair<std::string, std::string>> live_versions(const HipLibrary& hip) {
  std::vector<std::pair<std::string, std::string>> versions{{"hip", hip.version()}};
  if (std::string driver = elbowroom::detail::version_in(elbowroom::detail::kAmdDriver); !driver.empty()) {
    versions.emplace_back("driver", std::move(driver));
  }
  for (auto& setting : gpu::library_settings(kPrefixes, kNames)) { versions.push_back(std::move(setting)); }
  return versions;
}

}  // namespace elbowroom::hip
