#include "elbowroom/model/case.hpp"

#include <utility>

#include "model/document_schema.hpp"
#include "model/step_schema.hpp"

namespace elbowroom {

Result<Case> parse_case(std::string_view json, std::string_view source) {
  if (detail::schema_of(json) == kStepSchema) {
    Result<Step> step = parse_step(json, source);
    return step ? Result<Case>(Case(std::move(*step))) : Result<Case>(step.error());
  }
  Result<Scenario> scenario = parse_scenario(json, source);
  return scenario ? Result<Case>(Case(std::move(*scenario))) : Result<Case>(scenario.error());
}

}  // namespace elbowroom
