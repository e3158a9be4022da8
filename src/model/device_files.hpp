#pragma once

#include <span>
#include <string_view>

namespace elbowroom::detail {

/// The texts of data/devices, which are compiled in.
std::span<const std::string_view> device_files();

}  // namespace elbowroom::detail
