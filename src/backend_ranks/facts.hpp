#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elbowroom/backend/backend.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::ranks {

/// What must be equal on all ranks, by name: figures of different machines would be called those of one.
using Facts = std::vector<std::pair<std::string, std::string>>;

Facts facts_of(const Backend& backend, std::uint64_t seed);

/// `invalid_input` names the first that differs, and both values.
Status same_facts(const Facts& theirs, const Facts& own);

std::string bytes_of(const Facts& facts);
/// `failed` where they are none.
Result<Facts> facts_in(std::string_view bytes);

}  // namespace elbowroom::ranks
