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

}  // namespace

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
  json["window_s"] = number(energy.window.count() / 1e6);
  json["iterations"] = number(one.iterations);
  json["iteration_us"] = number(one.length.count());
  json["before"] = states_json(energy.before);
  json["after"] = states_json(energy.after);
  json["clocks_fell_by"] = energy.below_greatest_clock;
  return json;
}

}  // namespace elbowroom::detail
