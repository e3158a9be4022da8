#pragma once

#include <fmt/format.h>

#include "headroom/base/result.hpp"
#include "headroom/model/scenario.hpp"

namespace headroom {

/// `error` behind the name of the case that it ends.
inline Error in_case(const Scenario& scenario, const Error& error) {
  return {error.kind, fmt::format("{}: {}", scenario.name, error.message)};
}

}  // namespace headroom
