#include "preload/variables.hpp"

#include <algorithm>

namespace elbowroom::preload {

std::optional<std::string> value_of(const Variables& variables, std::string_view name) {
  const auto found = std::ranges::find(variables, name, &Variables::value_type::first);
  return found == variables.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::string> word_of(const Variables& variables, std::string_view name) {
  std::optional<std::string> value = value_of(variables, name);
  return value && !value->empty() ? std::move(value) : std::nullopt;
}

}  // namespace elbowroom::preload
