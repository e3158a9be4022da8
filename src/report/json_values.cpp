#include "report/json_values.hpp"

#include <cmath>

#include "elbowroom/plan/hardware_limit.hpp"

namespace elbowroom::detail {

OrderedJson number(double value) { return std::isfinite(value) ? OrderedJson(value) : OrderedJson(); }

OrderedJson number(std::optional<double> value) { return value ? number(*value) : OrderedJson(); }

OrderedJson text_or_null(const std::optional<std::string>& text) { return text ? OrderedJson(*text) : OrderedJson(); }

void add_hardware_limit(OrderedJson& json, const std::optional<HardwareLimit>& limit) {
  json["hardware_limit_us"] = limit ? number(limit->time.count()) : OrderedJson();
  OrderedJson& by = json["hardware_limited_by"];
  if (!limit || !limit->busiest) { return; }
  const HardwareLimit::Busiest& busiest = *limit->busiest;
  by = {{"part", to_string(busiest.part)},
        {"rate", busiest.of_peak ? "peak" : "reached"},
        {"busy_us", number(busiest.busy.count())},
        {"unhidden_us", number(busiest.unhidden.count())}};
}

OrderedJson versions_json(const Origin& origin) {
  OrderedJson versions = OrderedJson::object();
  for (const auto& [name, version] : origin.versions) { versions[name] = version; }
  return versions;
}

OrderedJson model_json(const Origin& origin) {
  if (!origin.device.model) { return {}; }
  OrderedJson json = OrderedJson::object();
  json["basis"] = to_string(origin.device.model->basis);
  json["width"] = number(origin.device.model->width);
  json["source"] = origin.device.model->source;
  return json;
}

OrderedJson device_json(const ReportedDevice& device) {
  const DeviceLimits& limits = device.limits;
  OrderedJson json = OrderedJson::object();
  json["name"] = device.name;
  json["count"] = device.count;
  json["memory_bytes"] = device.memory.count();
  json["catalog"] = limits.name;
  json["vendor"] = limits.vendor == Vendor::nvidia ? "nvidia" : "amd";
  json["architecture"] = limits.architecture;
  json["sms"] = limits.sms.count();
  json["warp"] = limits.warp.count();
  json["max_threads_per_block"] = limits.max_threads_per_block.count();
  json["max_threads_per_sm"] = limits.max_threads_per_sm.count();
  json["max_blocks_per_sm"] = limits.max_blocks_per_sm.count();
  json["registers_per_sm"] = limits.registers_per_sm.count();
  json["partitions"] = limits.sub_partitions;
  json["register_granule"] = limits.register_granule.count();
  json["max_registers_per_thread"] = limits.max_registers_per_thread.count();
  json["shared_per_sm"] = limits.shared_per_sm.count();
  json["shared_per_block"] = limits.shared_per_block.count();
  json["shared_reserved_per_block"] = limits.shared_reserved_per_block.count();
  json["shared_granule"] = limits.shared_granule.count();
  json["max_cluster"] = limits.max_cluster;
  json["source"] = limits.source;
  return json;
}

void add_origin(OrderedJson& document, const Origin& origin) {
  document["provenance"] = to_string(origin.provenance);
  document["backend"] = origin.backend;
  document["device"] = device_json(origin.device);
  document["versions"] = versions_json(origin);
  document["model"] = model_json(origin);
  document["seed"] = origin.seed;
}

OrderedJson scenario_json(const Scenario& scenario) {
  return OrderedJson::parse(to_json(scenario, -1), nullptr, /*allow_exceptions=*/false);
}

void add_case(OrderedJson& json, const Case& what) {
  if (const auto* scenario = std::get_if<Scenario>(&what)) {
    json["scenario"] = scenario_json(*scenario);
  } else {
    json["step"] = OrderedJson::parse(to_json(std::get<Step>(what), -1), nullptr, /*allow_exceptions=*/false);
  }
}

OrderedJson summary_json(const Summary& summary) {
  OrderedJson json = OrderedJson::object();
  json["median"] = number(summary.median.count());
  json["low"] = number(summary.low.count());
  json["high"] = number(summary.high.count());
  json["confidence"] = number(summary.confidence);
  json["trials"] = summary.trials;
  return json;
}

OrderedJson ratio_json(const RatioSummary& ratio) {
  OrderedJson json = OrderedJson::object();
  json["median"] = number(ratio.median);
  json["low"] = number(ratio.low);
  json["high"] = number(ratio.high);
  json["confidence"] = number(ratio.confidence);
  json["trials"] = ratio.trials;
  return json;
}

std::string dump(const OrderedJson& value, int indent) {
  return value.dump(indent, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace elbowroom::detail
