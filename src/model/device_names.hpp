#pragma once

#include <string>
#include <string_view>

namespace elbowroom::detail {

/// A device's name without what people and drivers write differently: "NVIDIA GeForce RTX 4090" and "rtx-4090" are "rtx4090".
std::string plain_device_name(std::string_view text);

/// How many letters must be put in, taken out or replaced to make one of the other.
std::size_t letters_apart(std::string_view one, std::string_view other);

}  // namespace elbowroom::detail
