#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elbowroom::preload {

/// Variables of an environment: names and values. Of equal names the first counts.
using Variables = std::vector<std::pair<std::string, std::string>>;

/// Absent: nobody set it.
std::optional<std::string> value_of(const Variables& variables, std::string_view name);

/// The same, where nothing is no value either.
std::optional<std::string> word_of(const Variables& variables, std::string_view name);

}  // namespace elbowroom::preload
