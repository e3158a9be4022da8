#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "elbowroom/base/result.hpp"
#include "ranks/membership.hpp"

namespace elbowroom::ranks {

/// The secret by which ranks know each other, from ELBOWROOM_TOKEN or from the file that ELBOWROOM_TOKEN_FILE names. Only its user
/// can read that file. Absent where neither is set. `invalid_input` names the variable, never the secret.
Result<std::optional<std::string>> token_of(const Lookup& lookup);

/// A new one, which nobody can guess.
Result<std::string> new_token();

}  // namespace elbowroom::ranks
