#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/device_limits.hpp"

namespace elbowroom {

inline constexpr std::string_view kDeviceSchema = "elbowroom.device/1";

/// Reads an `elbowroom.device/1` document: limits, rates where they are known, the simulator's constants where somebody fitted
/// them and how far off they are, and the source of each number. Errors are `invalid_input`, in one line that begins with `file`.
/// They are of members that are missing, unknown or out of range, of numbers without a source, and of sources whose number is not
/// there.
ELBOWROOM_API Result<DeviceLimits> parse_device(std::string_view text, const std::string& file);

/// Where numbers of a device file come from: "limits.sms", in one line of 1 to 200 bytes.
struct NumberSource {
  std::vector<std::string> numbers;
  std::string source;
};

/// The document that parse_device() reads, of what is known of the device. `sources` name each number that it then has.
ELBOWROOM_API std::string to_json(const DeviceLimits& device, std::span<const NumberSource> sources);

}  // namespace elbowroom
