#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "elbowroom/base/result.hpp"
#include "elbowroom/plan/overlap_plan.hpp"

namespace elbowroom::detail {

/// The `plan` object of result documents and profiles, fields in the order of the contract, absent values null.
nlohmann::ordered_json plan_json(const OverlapPlan& plan);

/// Reads what plan_json writes. A control that is left out is off, so that older documents stay readable. An unknown field, a wrong
/// type and a value outside of every device's range are `invalid_input`. `path` names the object in messages ("plan"), `source` the
/// file. Whether the plan can act somewhere is the backend's question.
Result<OverlapPlan> read_plan(const nlohmann::json& object, const std::string& path, const std::string& source);

}  // namespace elbowroom::detail
