#pragma once

#include <string>

namespace elbowroom::detail {

// Where the driver of a vendor's GPUs says its version, without a GPU or a library of the vendor.
inline constexpr const char* kNvidiaDriver = "/proc/driver/nvidia/version";
inline constexpr const char* kAmdDriver = "/sys/module/amdgpu/version";  ///< absent where the driver came with the kernel

/// The first word of the file that is a version, "580.159.04"; empty where there is none.
std::string version_in(const std::string& file);

}  // namespace elbowroom::detail
