#pragma once

#include <optional>
#include <string>

#include "elbowroom/base/result.hpp"
#include "preload/controls.hpp"
#include "preload/variables.hpp"

namespace elbowroom::preload {

/// Who asks for the same results to the bit: the option, or what the environment sets for that; absent: nobody.
std::optional<std::string> same_bits_asked_by(bool option, const Variables& environment);

/// `invalid_input` where the command line asks for what may change the bits of a sum or a product.
Status check_same_bits(const Controls& asked);

/// What a profile offers without that; says what was left, if anything.
std::optional<std::string> leave_other_bits(Controls& offered);

}  // namespace elbowroom::preload
