#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recorder/recording.hpp"

namespace elbowroom::recorder {

/// What stands beside the events.
struct Header {
  std::optional<int> rank;
  std::optional<int> world_size;
  std::string clock;  ///< equal for recordings whose times can be compared
  std::uint32_t process = 0;
  std::vector<Device> devices;
};

/// Writes a recording as torch.profiler's Kineto does, piece by piece. Kernels have more than Kineto writes: both kinds of shared
/// memory and the cluster. Kernels of graphs are marked; their launch is the graph's.
void write_trace(const Recording& recording, const Header& header, const std::function<void(std::string_view)>& write);

/// Whether calls of this name launch something or wait for it; others are left out.
bool matters(std::string_view call);

/// "cudaLaunchKernel_v7000" without its version.
std::string_view without_version(std::string_view call);

}  // namespace elbowroom::recorder
