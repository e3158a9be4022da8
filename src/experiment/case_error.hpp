#pragma once

#include <fmt/format.h>

#include <string_view>

#include "elbowroom/base/result.hpp"

namespace elbowroom::detail {

/// `error` behind the name of the case that it ends.
inline Error in_case(std::string_view name, const Error& error) { return {error.kind, fmt::format("{}: {}", name, error.message)}; }

}  // namespace elbowroom::detail
