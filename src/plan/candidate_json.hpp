#pragma once

#include <nlohmann/json.hpp>

#include "elbowroom/plan/candidates.hpp"
#include "plan/overlap_plan_json.hpp"

namespace elbowroom::detail {

/// What every document says of a candidate; what was measured of it comes behind.
inline nlohmann::ordered_json candidate_json(const Candidate& candidate) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  json["scheme"] = to_string(candidate.scheme);
  json["plan"] = plan_json(candidate.plan);
  json["reason"] = in_words(candidate.reason);
  json["predicted_us"] = candidate.predicted ? nlohmann::ordered_json(candidate.predicted->count()) : nlohmann::ordered_json();
  return json;
}

}  // namespace elbowroom::detail
