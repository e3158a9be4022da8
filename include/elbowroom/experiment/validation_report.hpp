#pragma once

#include <string>
#include <string_view>

#include "elbowroom/backend/validation.hpp"
#include "elbowroom/base/export.hpp"

namespace elbowroom {

/// A line for each row and the sums; every line but the rows' begins with '#'. `source` names the measured rows.
ELBOWROOM_API std::string to_table(const Validation& validation, std::string_view source, std::string_view device);

/// An `elbowroom.validation/1` document.
ELBOWROOM_API std::string to_json(const Validation& validation);

}  // namespace elbowroom
