#include "plan/overlap_plan_json.hpp"

#include <fmt/format.h>

#include <optional>

#include "elbowroom/plan/controls.hpp"
#include "model/json_fields.hpp"

namespace elbowroom::detail {
namespace {

nlohmann::ordered_json member_json(const PlanMember& member, const OverlapPlan& plan) {
  const auto value = member.get(plan);
  if (member.is_switch) { return value.has_value(); }
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

bool flag(const char* name, JsonFields& fields) {
  const nlohmann::json* value = fields.member(name);
  if (value == nullptr) { return false; }
  if (!value->is_boolean()) { fields.reject(name, shown(*value), "true or false"); }
  return value->is_boolean() && value->get<bool>();
}

void read_member(const PlanMember& member, JsonFields& fields, OverlapPlan& plan) {
  // Names of rows are literals.
  const char* const name = member.name.data();
  if (!member.is_switch) { return member.put(plan, fields.optional_integer(name, member.least, member.greatest)); }
  member.put(plan, flag(name, fields) ? std::optional<std::int64_t>(1) : std::nullopt);
}

}  // namespace

nlohmann::ordered_json plan_json(const OverlapPlan& plan) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const Control& control : controls()) {
    json[std::string(control.name)] = member_json(control, plan);
    if (control.consequence != nullptr) { json[std::string(control.consequence->name)] = member_json(*control.consequence, plan); }
  }
  return json;
}

Result<OverlapPlan> read_plan(const nlohmann::json& object, const std::string& path, const std::string& source) {
  if (!object.is_object()) { return invalid_input(fmt::format("{}: {}: {}, expected an object", source, path, shown(object))); }
  JsonFields fields(object, path + ".", source);
  OverlapPlan plan;
  for (const Control& control : controls()) {
    read_member(control, fields, plan);
    if (control.consequence != nullptr) { read_member(*control.consequence, fields, plan); }
  }
  if (Status read = fields.finish(); !read) { return read.error(); }
  return plan;
}

}  // namespace elbowroom::detail
