#include "elbowroom/report/result_document.hpp"

#include <algorithm>
#include <utility>

#include "plan/overlap_plan_json.hpp"
#include "report/energy_json.hpp"
#include "report/json_values.hpp"

namespace elbowroom {
namespace {

using detail::number;
using detail::OrderedJson;
using detail::plan_json;

OrderedJson summary_json(const std::optional<Summary>& summary) { return summary ? detail::summary_json(*summary) : OrderedJson(); }

/// Its median stands beside it, as `time_ratio`.
OrderedJson interval_json(const std::optional<RatioSummary>& ratio) {
  if (!ratio) { return {}; }
  OrderedJson json = OrderedJson::object();
  json["low"] = number(ratio->low);
  json["high"] = number(ratio->high);
  json["confidence"] = number(ratio->confidence);
  json["trials"] = ratio->trials;
  return json;
}

OrderedJson result_json(const SchemeResult& result) {
  const OverlapMetrics& metrics = result.metrics;
  OrderedJson json = OrderedJson::object();
  json["scheme"] = result.scheme;
  json["plan"] = plan_json(result.plan);
  json["time_us"] = summary_json(result.time);
  json["time_ratio"] = number(metrics.time_ratio);
  json["time_ratio_interval"] = interval_json(result.ratio);
  json["reduction"] = number(metrics.reduction);
  json["overlap_rate"] = number(metrics.overlap_rate);
  json["overlap_efficiency"] = number(metrics.overlap_efficiency);
  json["compute_inflation"] = number(metrics.compute_inflation);
  json["comm_inflation"] = number(metrics.comm_inflation);
  json["limited_by"] = detail::text_or_null(result.limited_by);
  json["note"] = detail::text_or_null(result.note);
  if (result.energy) { json["energy"] = detail::energy_json(*result.energy); }
  return json;
}

OrderedJson case_json(const CaseResult& result) {
  OrderedJson json = OrderedJson::object();
  detail::add_case(json, result.what);
  json["critical_path_us"] = result.critical_path ? number(result.critical_path->count()) : OrderedJson();
  detail::add_hardware_limit(json, result.hardware_limit);
  json["compute_alone_us"] = summary_json(result.compute_alone);
  json["comm_alone_us"] = summary_json(result.comm_alone);
  json["results"] = OrderedJson::array();
  for (const SchemeResult& scheme : result.results) { json["results"].push_back(result_json(scheme)); }
  json["refusals"] = OrderedJson::array();
  for (const Refusal& refusal : result.refusals) {
    OrderedJson entry = OrderedJson::object();
    entry["scheme"] = refusal.scheme;
    entry["reason"] = refusal.reason;
    json["refusals"].push_back(std::move(entry));
  }
  if (result.no_energy) { json["no_energy"] = *result.no_energy; }
  return json;
}

}  // namespace

const SchemeResult* best_result(const CaseResult& result) {
  if (std::ranges::any_of(result.refusals, &Refusal::asked_for)) { return nullptr; }
  const auto best = std::min_element(result.results.begin(), result.results.end(),
                                     [](const SchemeResult& a, const SchemeResult& b) { return a.time.median < b.time.median; });
  return best == result.results.end() ? nullptr : &*best;
}

std::string to_json(const ResultDocument& document, int indent) {
  OrderedJson json = OrderedJson::object();
  json["schema"] = kResultSchema;
  detail::add_origin(json, document.origin);
  json["cases"] = OrderedJson::array();
  for (const CaseResult& result : document.cases) { json["cases"].push_back(case_json(result)); }
  return detail::dump(json, indent);
}

}  // namespace elbowroom
