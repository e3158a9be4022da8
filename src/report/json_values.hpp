#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "elbowroom/base/quantities.hpp"
#include "elbowroom/model/case.hpp"
#include "elbowroom/model/device_limits.hpp"
#include "elbowroom/model/scenario.hpp"
#include "elbowroom/report/origin.hpp"
#include "elbowroom/trace/summary.hpp"

// How reports write values as JSON: in the order given, absent and non-finite ones as null.
namespace elbowroom {

struct HardwareLimit;

}  // namespace elbowroom

namespace elbowroom::detail {

using OrderedJson = nlohmann::ordered_json;

OrderedJson number(double value);
OrderedJson number(std::optional<double> value);

template <class Unit>
OrderedJson count(const std::optional<Quantity<Unit>>& value) {
  return value ? OrderedJson(value->count()) : OrderedJson();
}

OrderedJson text_or_null(const std::optional<std::string>& text);

OrderedJson versions_json(const Origin& origin);
/// What simulated times rest on; null for measured ones.
OrderedJson model_json(const Origin& origin);
OrderedJson device_json(const ReportedDevice& device);
/// What every document of figures says of where they come from: provenance, backend, device, versions, model, seed.
void add_origin(OrderedJson& document, const Origin& origin);

OrderedJson scenario_json(const Scenario& scenario);
/// The member `scenario` or `step`, by what it is.
void add_case(OrderedJson& json, const Case& what);
// Median, low, high, confidence and trials.
OrderedJson summary_json(const Summary& summary);
OrderedJson ratio_json(const RatioSummary& ratio);

/// The members `hardware_limit_us` and `hardware_limited_by`; both null where there is no limit.
void add_hardware_limit(OrderedJson& json, const std::optional<HardwareLimit>& limit);

/// Invalid UTF-8 becomes U+FFFD instead of an exception. `indent` below zero: one line.
std::string dump(const OrderedJson& value, int indent);

}  // namespace elbowroom::detail
