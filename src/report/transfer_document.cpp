#include "elbowroom/report/transfer_document.hpp"

#include <algorithm>
#include <utility>

#include "plan/overlap_plan_json.hpp"
#include "report/json_values.hpp"
#include "report/schemas.hpp"

namespace elbowroom {
namespace {

using detail::number;
using detail::OrderedJson;

void add_compared(OrderedJson& json, const ComparedTime& compared) {
  json["time_us"] = detail::summary_json(compared.time);
  json["ratio"] = detail::ratio_json(compared.ratio);
  json["regret"] = number(compared.regret());
}

OrderedJson baseline_json(const TransferBaseline& baseline) {
  OrderedJson json = OrderedJson::object();
  json["scheme"] = to_string(baseline.scheme);
  json["plan"] = detail::plan_json(baseline.plan);
  add_compared(json, baseline.compared);
  return json;
}

OrderedJson transferred_json(const Transferred& row) {
  OrderedJson json = OrderedJson::object();
  json["profile"] = row.profile;
  json["differs"] = row.differs;
  if (row.refused) {
    json["refused"] = *row.refused;
    return json;
  }
  json["scheme"] = to_string(row.scheme);
  json["plan"] = detail::plan_json(row.plan);
  if (row.compared) { add_compared(json, *row.compared); }
  return json;
}

OrderedJson transfer_case_json(const TransferCase& found) {
  OrderedJson json = OrderedJson::object();
  json["scenario"] = detail::scenario_json(found.scenario);
  json["best"] = {
      {"of", found.best}, {"plan", detail::plan_json(found.best_plan)}, {"time_us", detail::summary_json(found.best_time)}};
  json["knows_its_own"] = found.knows_its_own();
  json["baselines"] = OrderedJson::array();
  for (const TransferBaseline& baseline : found.baselines) { json["baselines"].push_back(baseline_json(baseline)); }
  json["transferred"] = OrderedJson::array();
  for (const Transferred& row : found.transferred) { json["transferred"].push_back(transferred_json(row)); }
  return json;
}

}  // namespace

bool TransferCase::knows_its_own() const {
  return std::ranges::any_of(transferred, [](const Transferred& row) { return row.compared && row.differs.empty(); });
}

std::string to_json(const TransferDocument& document) {
  OrderedJson json = OrderedJson::object();
  json["schema"] = kTransferSchema;
  detail::add_origin(json, document.origin);
  json["trials"] = document.trials;
  json["cases"] = OrderedJson::array();
  for (const TransferCase& found : document.cases) { json["cases"].push_back(transfer_case_json(found)); }
  return detail::dump(json, 1) + "\n";
}

}  // namespace elbowroom
