#pragma once

#include <string>
#include <string_view>

#include "elbowroom/base/result.hpp"
#include "elbowroom/trace/timeline.hpp"

namespace elbowroom::ranks {

/// A recording for rank 0.
std::string bytes_of(const Timeline& timeline);

/// `failed` where they are none.
Result<Timeline> timeline_in(std::string_view bytes);

}  // namespace elbowroom::ranks
