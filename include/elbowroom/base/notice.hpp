#pragma once

#include <functional>
#include <string_view>

namespace elbowroom {

/// Where the library says things that are not results: progress, refusals, fallbacks. The caller owns the sink and decides
/// what becomes of the line (the command line prints it to stderr). An empty function is allowed and drops everything.
using NoticeSink = std::function<void(std::string_view line)>;

}  // namespace elbowroom
