#pragma once

#include <fmt/format.h>

#include "elbowroom/base/result.hpp"
#include "elbowroom/model/scenario.hpp"

namespace elbowroom::detail {

/// `error` behind the name of the case that it ends.
inline Error in_case(const Scenario& scenario, const Error& error) {
  return {error.kind, fmt::format("{}: {}", scenario.name, error.message)};
}

}  // namespace elbowroom::detail
