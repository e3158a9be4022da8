#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "elbowroom/base/export.hpp"
#include "elbowroom/model/scenario.hpp"
#include "elbowroom/model/step.hpp"

namespace elbowroom {

/// What is run under several schedules, as its document says it.
using Case = std::variant<Scenario, Step>;

inline const std::string& name_of(const Case& what) {
  return std::visit([](const auto& one) -> const std::string& { return one.name; }, what);
}

inline int ranks_of(const Case& what) {
  const auto* scenario = std::get_if<Scenario>(&what);
  return scenario != nullptr ? scenario->gpus : std::get<Step>(what).ranks;
}

/// An `elbowroom.scenario/1` or `elbowroom.step/1` document, by what it says that it is. Errors are as those of parse_scenario.
ELBOWROOM_API Result<Case> parse_case(std::string_view json, std::string_view source);

}  // namespace elbowroom
