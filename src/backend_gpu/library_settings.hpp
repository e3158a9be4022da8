#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elbowroom::gpu {

/// What the environment tells a vendor's libraries shapes the figures as much as their versions do. Links through host memory
/// (NCCL_P2P_DISABLE) and over NVLink are different machines. These are all set variables that begin with one of `prefixes` or are
/// one of `names`, in the order of their names.
std::vector<std::pair<std::string, std::string>> library_settings(std::span<const std::string_view> prefixes,
                                                                  std::span<const std::string_view> names);

}  // namespace elbowroom::gpu
