#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/report/origin.hpp"
#include "tune_case.hpp"

namespace elbowroom {

/// What was measured, the least time first, and what was chosen; every line but the candidates' begins with '#'.
std::string to_table(const TunedCase& tuned, Provenance provenance);

inline constexpr std::string_view kTuneSchema = "elbowroom.tune/1";

/// Such a document. `left_out`: controls that no plan was to set.
std::string to_json(const Origin& origin, const std::vector<std::string>& left_out, const std::vector<TunedCase>& cases);

}  // namespace elbowroom
