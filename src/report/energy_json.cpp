#include "report/energy_json.hpp"

#include <optional>
#include <vector>

namespace elbowroom::detail {
namespace {

OrderedJson states_json(const std::vector<GpuState>& states) {
  OrderedJson json = OrderedJson::array();
  for (const GpuState& state : states) {
    OrderedJson gpu = OrderedJson::object();
    gpu["celsius"] = state.celsius ? OrderedJson(*state.celsius) : OrderedJson();
    gpu["sm_mhz"] = state.sm_mhz ? OrderedJson(*state.sm_mhz) : OrderedJson();
    json.push_back(gpu);
  }
  return json;
}

template <class Value>
OrderedJson or_null(const std::optional<Value>& value) {
  return value ? OrderedJson(*value) : OrderedJson();
}

OrderedJson gpu_json(const RunEnergy::Gpu& gpu) {
  const GpuConditions& stood = gpu.conditions;
  OrderedJson json = OrderedJson::object();
  json["bus_id"] = gpu.bus_id;
  json["joules_per_step"] = gpu.joules ? number(gpu.joules->value) : OrderedJson();
  json["greatest_celsius"] = or_null(stood.celsius);
  json["least_sm_mhz"] = or_null(stood.least_sm_mhz);
  json["greatest_sm_mhz"] = or_null(stood.greatest_sm_mhz);
  json["clocks_fell_by"] = stood.below_greatest_clock;
  json["processes"] = stood.processes;
  json["own_processes"] = gpu.own_processes;
  return json;
}

/// Members that say what one step takes; null where that is not known.
void add_per_step(OrderedJson& json, const Result<JoulesPerIteration>& per_step) {
  const auto value = [&](auto member) { return per_step ? number(member(*per_step)) : OrderedJson(); };
  json["joules_per_step"] = value([](const JoulesPerIteration& one) { return one.joules.value; });
  json["low"] = value([](const JoulesPerIteration& one) { return one.low.value; });
  json["high"] = value([](const JoulesPerIteration& one) { return one.high.value; });
  json["confidence"] = value([](const JoulesPerIteration&) { return 0.95; });
  json["why_absent"] = per_step ? OrderedJson() : OrderedJson(per_step.error().message);
  json["resolution"] = value([](const JoulesPerIteration& one) { return one.resolution; });
  json["step_us"] = value([](const JoulesPerIteration& one) { return one.length.count(); });
}

}  // namespace

OrderedJson energy_json(const RunEnergy& energy) {
  OrderedJson json = OrderedJson::object();
  add_per_step(json, energy.per_step);
  json["idle_joules"] = energy.idle ? number(energy.idle->value) : OrderedJson();
  json["why_no_idle"] = energy.idle ? OrderedJson() : OrderedJson(energy.idle.error().message);
  json["counter"] = text_or_null(energy.counter);
  json["period_ms"] = energy.period ? number(energy.period->count() / 1e3) : OrderedJson();
  json["span_s"] = number(energy.span.count() / 1e6);
  json["steps"] = energy.steps;
  json["collectives_per_step"] = energy.collectives_per_step;
  json["counted_by"] = energy.steps > 0 ? OrderedJson(energy.counted_by) : OrderedJson();
  OrderedJson& gpus = json["gpus"] = OrderedJson::array();
  for (const RunEnergy::Gpu& gpu : energy.gpus) { gpus.push_back(gpu_json(gpu)); }
  json["notes"] = energy.notes;
  return json;
}

OrderedJson energy_json(const SchemeEnergy& energy) {
  const JoulesPerIteration& one = energy.per_iteration;
  OrderedJson json = OrderedJson::object();
  json["joules"] = number(one.joules.value);
  json["low"] = number(one.low.value);
  json["high"] = number(one.high.value);
  json["confidence"] = 0.95;
  json["idle_joules"] = number(energy.idle.value);
  json["resolution"] = number(one.resolution);
  json["counter_over_power"] = number(one.counter_over_power);
  json["counter"] = energy.counter;
  json["period_ms"] = number(energy.period.count() / 1e3);
  json["span_s"] = number(energy.span.count() / 1e6);
  json["iterations"] = number(one.iterations);
  json["iteration_us"] = number(one.length.count());
  json["before"] = states_json(energy.before);
  json["after"] = states_json(energy.after);
  json["clocks_fell_by"] = energy.below_greatest_clock;
  return json;
}

}  // namespace elbowroom::detail
